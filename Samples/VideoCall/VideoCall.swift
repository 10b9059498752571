import Inlet

/// A two-way video call between two peers: `swift run --traits GStreamer VideoCall`.
///
/// Anna calls, Ben answers. Each sends a pattern with a number in every picture, and reads the other's numbers. Both
/// peers and the room are in this process; over a network, `inlet signal` provides the room.
@main struct VideoCall {
    static func main() async throws {
        #if GStreamer
        let room = LocalSignalingRoom()
        let anna = try await Participant("anna", in: room)
        let ben = try await Participant("ben", in: room)

        await anna.calls.place(ben.calls.localID)
        async let atAnna = anna.talk { _ in }
        async let atBen = ben.talk { call in
            if call.state == .ringing { await ben.calls.answer(call.id) }
        }
        // Anna hangs up when both have received enough pictures.
        await anna.screen.hasSeen(90)
        await ben.screen.hasSeen(90)
        for call in await anna.calls.calls { await anna.calls.hangUp(call.id) }
        print("anna: \(await atAnna)")
        print("ben: \(await atBen)")
        await anna.leave()
        await ben.leave()
        #else
        print("This sample needs WebRTC: swift run --traits GStreamer VideoCall")
        #endif
    }
}

#if GStreamer
/// One participant: a source, a publisher, and calls.
private struct Participant {
    let calls: CallController
    let screen = Screen()
    private let service: any SignalingService
    private let capturer: Capturer
    private let running: Task<Void, any Error>
    private let events: AsyncStream<CallEvent>

    init(_ name: String, in room: LocalSignalingRoom) async throws {
        let publisher = PeerPublisher { FFmpegVideoEncoder() }
        let source = try PluginRegistry.standard.source("pattern:timecode?size=640x480&fps=30")
        let capturer = Capturer(source)
        capturer.attach(PeerSinkConfiguration(publisher))
        self.capturer = capturer
        running = Task { _ = try await capturer.run() }
        service = try room.enter(as: PeerID(name))
        let media = PeerCallMedia(publisher) { [screen] _, remote in screen.attach(to: remote) }
        calls = try CallController(service, media: media)
        events = calls.events()
    }

    /// Handles the events of a call until it ends. Returns a summary of the received pictures.
    func talk(_ act: (Call) async -> Void) async -> String {
        for await case .changed(let call) in events {
            print("\(calls.localID): \(call.state)")
            await act(call)
            if case .ended = call.state { break }
        }
        return screen.summary
    }

    func leave() async {
        await calls.close()
        await service.close()
        capturer.stop()
        _ = try? await running.value
    }
}
#endif
