#if GStreamer
import ArgumentParser
import Dispatch
import Inlet
import InletSystem
import Logging
import Synchronization

/// One side of calls on the command line: a source to send, sinks for the received pictures, and the handling of
/// calls.
final class CallRun: Sendable {
    /// The handling of a ringing call.
    enum Habit: Sendable {
        case answer
        case decline(String?)
        case busy(Duration?)
        /// Asks the person at the terminal.
        case ask
        /// Does not react: the call rings until the caller gives up.
        case ring

        /// Whether the call must end without being answered.
        var refuses: Bool {
            switch self {
            case .decline, .busy: true
            case .answer, .ask, .ring: false
            }
        }
    }

    private enum Occurrence: Sendable {
        case call(CallEvent)
        case room(RoomEvent)
        case signaling(SignalingEvent)
        case sourceEnded(InletError?)
        case sinkFailed(InletError)
        case timeUp(CallID)
        case typed(String)
        case interrupted
    }

    private let options: CallOptions
    private let habit: Habit
    private let calls: Int
    private let source: Capturer
    private let publisher: PeerPublisher
    private let servers: ICEServers
    private let sinks: [any FrameSinkConfiguration]
    /// The capturers of received pictures, by call.
    private let remote = Mutex<[CallID: Capturer]>([:])
    private let occurrences: AsyncStream<Occurrence>
    private let post: AsyncStream<Occurrence>.Continuation
    /// How long the source stays open while its pictures are not sent.
    private static let closesAfter = Duration.seconds(2)
    private static let openLimit = Duration.seconds(10)

    /// - Parameters:
    ///   - calls: the number of calls after which the run ends.
    ///   - habit: the handling of ringing calls.
    init(_ source: String, _ options: CallOptions, calls: Int = 1, habit: () -> Habit) throws {
        let registry = PluginRegistry.command
        self.options = options
        self.calls = calls
        self.habit = habit()
        sinks = try (options.sinks.isEmpty ? ["null:"] : options.sinks).map(registry.sink)
        var configuration = CapturerConfiguration()
        configuration.closesUnwatchedAfter = Self.closesAfter
        configuration.logger = Self.silent
        self.source = Capturer(try registry.source(source), configuration: configuration)
        servers = try options.relays.servers()
        publisher = PeerPublisher(ice: servers) { FFmpegVideoEncoder() }
        self.source.attach(PeerSinkConfiguration(publisher))
        (occurrences, post) = AsyncStream.makeStream(of: Occurrence.self)
    }

    /// The report contains the error.
    private static let silent = Logger(label: "inlet") { _ in SwiftLogNoOpLogHandler() }

    /// Runs until the calls are over, and ends the command with the exit status of the last call.
    ///
    /// - Parameter begin: called once the room has been entered.
    func run(_ begin: @escaping @Sendable (CallController) async -> Void) async throws {
        let service = try options.service()
        let interrupt = Interrupt { [post] in post.yield(.interrupted) }
        defer { withExtendedLifetime(interrupt) {} }
        var media = PeerCallMedia(publisher) { [self] call, capturer in receive(call, capturer) }
        media.track.ice = servers
        let controller = try CallController(service, policy: options.policy, media: media.silent(Self.silent))
        let events = controller.events()
        // After the controller, which receives the early events.
        let signaling = service.events()
        let room = Room(service)
        let members = room.events()
        let pumps = [
            Task { [post] in for await event in members { post.yield(.room(event)) } },
            Task { [post] in for await event in events { post.yield(.call(event)) } },
            Task { [post] in for await event in signaling { post.yield(.signaling(event)) } },
        ]
        let capturing = Task { [post, source] in
            do throws(InletError) {
                _ = try await source.run()
                post.yield(.sourceEnded(nil))
            } catch {
                post.yield(.sourceEnded(error))
            }
        }
        let opening = Task { [post] in
            try? await Task.sleep(for: Self.openLimit)
            guard !Task.isCancelled, !service.isOpen else { return }
            post.yield(
                .signaling(
                    .closed(InletError(.timedOut, "Cannot enter the room. Check that `inlet signal` runs."))))
        }
        let log = CallLog(me: controller.localID, habit)
        await follow(controller, room, log, begin)
        opening.cancel()
        await room.close()
        await controller.close()
        await service.close()
        source.stop()
        await capturing.value
        for pump in pumps { pump.cancel() }
        if let status = log.status { throw ExitCode(status.rawValue) }
    }

    private func follow(
        _ controller: CallController, _ room: Room, _ log: CallLog,
        _ begin: @Sendable (CallController) async -> Void
    ) async {
        var hasBegun = false
        var over = 0
        await room.publish([Self.camera(isOn: false)])
        for await occurrence in occurrences {
            switch occurrence {
            case .signaling(.opened) where !hasBegun:
                hasBegun = true
                say("In the room as \(controller.localID).")
                await begin(controller)
            case .signaling(.interrupted(let error)): say("\(error)")
            case .signaling(.closed(let error)):
                log.error = log.error ?? error ?? InletError(.disconnected, "The room has ended.")
                if log.report == nil { options.report.writeFailure(log.error) }
                return await hangUpAll(controller, log)
            case .signaling: break
            case .room(let event): tell(event)
            case .call(.joined(let call, let other)): log.join(call, into: other)
            case .call(.changed(let call)):
                say("\(call.peer): \(call.state)".sanitized())
                log.note(call)
                if call.state == .connected { await room.publish([Self.camera(isOn: true)]) }
                await act(on: call, controller)
                guard case .ended = call.state else { break }
                finish(call, log)
                if await controller.calls.isEmpty { await room.publish([Self.camera(isOn: false)]) }
                over += 1
                if over >= calls { return }
            case .sourceEnded(let error):
                log.error = log.error ?? error
                if log.report == nil { options.report.writeFailure(error) }
                return await hangUpAll(controller, log)
            case .sinkFailed(let error):
                // Only the source can have a missing input.
                log.error = log.error ?? (error.code == .notFound ? InletError(.inputOutput, error.message) : error)
            case .timeUp(let call): await controller.hangUp(call)
            case .typed(let text): await typed(text, controller)
            case .interrupted:
                log.isInterrupted = true
                return await hangUpAll(controller, log)
            }
        }
    }

    /// The track of this side, as reported to the others of the room.
    private static func camera(isOn: Bool) -> RoomTrack { RoomTrack(name: "camera", isOn: isOn) }

    private func tell(_ event: RoomEvent) {
        switch event {
        case .joined(let peer): say("\(peer) is in the room.".sanitized())
        case .left(let peer): say("\(peer) has left the room.".sanitized())
        case .tracks(let peer, let tracks):
            let list = tracks.map { "\($0.name) \($0.isOn ? "on" : "off")" }.joined(separator: ", ")
            say("\(peer): \(list.isEmpty ? "no tracks" : list)".sanitized())
        }
    }

    /// Ends the running calls and reports them.
    private func hangUpAll(_ controller: CallController, _ log: CallLog) async {
        let running = await controller.calls
        for call in running { await controller.hangUp(call.id) }
        await controller.settle()
        for call in running {
            guard let call = await controller.call(call.id) else { continue }
            log.note(call)
            finish(call, log)
        }
    }

    private func act(on call: Call, _ controller: CallController) async {
        if call.state == .connected, let duration = options.duration {
            Task { [post] in
                try? await Task.sleep(for: duration)
                post.yield(.timeUp(call.id))
            }
        }
        guard call.state == .ringing, !call.isOutgoing else { return }
        switch habit {
        case .answer: await controller.answer(call.id)
        case .decline(let reason): await controller.decline(call.id, reason: reason)
        case .busy(let wait): await controller.refuse(call.id, retryAfter: wait)
        case .ask: ask("\(call.peer) calls. Answer? (y, n, b for busy) ")
        case .ring: break
        }
    }

    private func ask(_ question: String) {
        Terminal.writeError(question)
        // On another thread, because a person may take any time to answer.
        DispatchQueue.global().async { [post] in
            if let line = readLine() { post.yield(.typed(line)) }
        }
    }

    private func typed(_ text: String, _ controller: CallController) async {
        let ringing = await controller.calls.first { $0.state == .ringing && !$0.isOutgoing }
        guard let call = ringing?.id else { return }
        switch text.utf8.first.map({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 ? $0 | 0x20 : $0 }) {
        case UInt8(ascii: "y"): await controller.answer(call)
        case UInt8(ascii: "n"): await controller.decline(call)
        case UInt8(ascii: "b"): await controller.refuse(call)
        default: ask("y, n or b? ")
        }
    }

    private func receive(_ call: Call, _ capturer: Capturer) {
        for sink in sinks { capturer.attach(sink) }
        let events = capturer.events
        Task { [post] in
            for await case .sinkEnded(_, _, let error?) in events { post.yield(.sinkFailed(error)) }
        }
        remote.withLock { $0[call.id] = capturer }
    }

    private func finish(_ call: Call, _ log: CallLog) {
        let received = remote.withLock { $0.removeValue(forKey: call.id) }?.statistics.captured ?? 0
        options.report.write(log.finish(call, sent: source.statistics.delivered, received: received))
    }

    private func say(_ text: String) { if options.report != .none { Terminal.writeError(text + "\n") } }
}

extension ReportStyle {
    /// Writes an error that belongs to no call.
    fileprivate func writeFailure(_ error: InletError?) {
        guard let error else { return }
        let hint = self == .text ? ErrorExplanation.hint(for: error.code.description) : ""
        Terminal.writeError("error: \(error)\n" + hint)
    }
}

extension PeerCallMedia {
    /// Returns the media with captures that log to a logger.
    fileprivate func silent(_ logger: Logger) -> PeerCallMedia {
        var media = self
        media.capture.logger = logger
        return media
    }
}
#endif
