import InletCore
import Synchronization
import Testing

@testable import InletRTC

/// Calls between controllers in one room. Their media connects as soon as both sides have it open.
@Suite struct CallControllerTests {
    /// The media of both sides. It connects when the second side opens the media of a call.
    private final class SharedMedia: CallMedia {
        private let open = Mutex<[CallID: [@Sendable (CallMediaEvent) -> Void]]>([:])
        let closed = Mutex<[CallID]>([])
        let isBroken: Bool

        init(isBroken: Bool = false) { self.isBroken = isBroken }

        func open(
            _ call: Call, over channel: any SignalingChannel, report: @escaping @Sendable (CallMediaEvent) -> Void
        ) throws(InletError) -> any CallMediaSession {
            if isBroken { throw InletError(.unsupported, "There is no media here.") }
            let reports = open.withLock { open in
                open[call.id, default: []].append(report)
                return open[call.id] ?? []
            }
            if reports.count == 2 { for report in reports { report(.connected) } }
            return Session(self, call.id)
        }

        private final class Session: CallMediaSession {
            private let media: SharedMedia
            private let call: CallID
            init(_ media: SharedMedia, _ call: CallID) { (self.media, self.call) = (media, call) }
            func close() async { media.closed.withLock { $0.append(call) } }
        }
    }

    /// Waits longer than a busy machine may delay a task, so that only events decide.
    private static let patient: CallPolicy = {
        var policy = CallPolicy()
        (policy.reaching, policy.ringing, policy.connecting) = (.seconds(3600), .seconds(3600), .seconds(3600))
        (policy.patience, policy.ending, policy.absence) = (.seconds(3600), .seconds(3600), .seconds(3600))
        return policy
    }()

    /// One side with all events that it receives.
    private struct Side {
        let service: any SignalingService
        let calls: CallController
        let events: AsyncStream<CallEvent>
        var id: PeerID { calls.localID }

        init(
            _ name: String, _ room: LocalSignalingRoom, _ media: SharedMedia, _ policy: CallPolicy = patient,
            _ admission: Admission = Admission()
        ) throws {
            service = try room.enter(as: PeerID(name))
            calls = try CallController(service, policy: policy, admission: admission, media: media)
            events = calls.events()
        }

        /// Acts on each state of a call until it is over; returns the states and the end.
        func follow(_ act: (Call) async -> Void = { _ in }) async -> [CallState] {
            var states: [CallState] = []
            for await case .changed(let call) in events {
                states.append(call.state)
                await act(call)
                if case .ended = call.state { break }
            }
            return states
        }

        func leave() async {
            await calls.close()
            await service.close()
        }
    }

    @Test("Two sides ring, connect and hang up, report the same end, and close the media on both sides")
    func hangUp() async throws {
        let (room, media) = (LocalSignalingRoom(), SharedMedia())
        let (anna, ben) = (try Side("anna", room, media), try Side("ben", room, media))
        let call = await anna.calls.place(ben.id)
        async let atAnna = anna.follow()
        let atBen = await ben.follow { call in
            if call.state == .ringing { await ben.calls.answer(call.id) }
            if call.state == .connected { await ben.calls.hangUp(call.id) }
        }
        let end = CallState.ended(CallEnd(by: ben.id, .hungUp))
        #expect(atBen.last == end)
        #expect(await atAnna.last == end)
        #expect(atBen.first == .ringing)
        #expect(await anna.calls.call(call)?.isOutgoing == true)
        #expect(await anna.calls.calls.isEmpty)
        await anna.leave()
        await ben.leave()
        #expect(media.closed.withLock { $0 } == [call, call])
    }

    @Test("A call that is declined, refused, or not admitted in time ends in the same way on both sides")
    func refusals() async throws {
        var late = Admission { _ in
            try? await Task.sleep(for: .seconds(3600))
            return .accept(.all)
        }
        (late.deadline, late.late) = (.milliseconds(20), .busy(retryAfter: .seconds(3)))
        var full = Admission { _ in .decline(reason: "by the list") }
        full.requiresName = true
        let table: [(Admission, Bool, CallEnd.Reason)] = [
            (Admission(), true, .declined("not now")), (Admission(), false, .busy(retryAfter: .seconds(60))),
            (late, false, .busy(retryAfter: .seconds(3))), (full, false, .declined("by the list")),
        ]
        for (admission, declines, reason) in table {
            let (room, media) = (LocalSignalingRoom(), SharedMedia())
            let anna = try Side("anna", room, media)
            let ben = try Side("ben", room, media, CallControllerTests.patient, admission)
            await anna.calls.place(ben.id)
            async let atBen = ben.follow { call in
                guard call.state == .ringing else { return }
                if declines {
                    await ben.calls.decline(call.id, reason: "not now")
                } else {
                    await ben.calls.refuse(call.id, retryAfter: .seconds(60))
                }
            }
            let end = CallState.ended(CallEnd(by: ben.id, reason))
            #expect(await anna.follow().last == end)
            #expect(await atBen.last == end)
            await anna.leave()
            await ben.leave()
        }
    }

    @Test("Media that cannot be connected ends the call on both sides, reported by the side without media")
    func brokenMedia() async throws {
        let room = LocalSignalingRoom()
        let anna = try Side("anna", room, SharedMedia())
        let ben = try Side("ben", room, SharedMedia(isBroken: true))
        await anna.calls.place(ben.id)
        async let atAnna = anna.follow()
        let atBen = await ben.follow { if $0.state == .ringing { await ben.calls.answer($0.id) } }
        let end = CallState.ended(CallEnd(by: ben.id, .failed("There is no media here.")))
        #expect(atBen.last == end)
        #expect(await atAnna.last == end)
        await anna.leave()
        await ben.leave()
    }

    @Test("A call to an absent peer ends by time-out; a peer that leaves while it rings ends the call")
    func absent() async throws {
        let (room, media) = (LocalSignalingRoom(), SharedMedia())
        var soon = Self.patient
        (soon.ending, soon.absence) = (.milliseconds(50), .milliseconds(50))
        var soonAlone = soon
        soonAlone.reaching = .milliseconds(50)
        let ben = try PeerID("ben")
        let alone = try Side("carl", room, media, soonAlone)
        await alone.calls.place(ben)
        #expect(await alone.follow().last == .ended(CallEnd(by: ben, .timedOut(.reaching))))
        await alone.leave()

        let anna = try Side("anna", room, media, soon)
        let there = try Side("ben", room, media, soon)
        await anna.calls.place(ben)
        let states = await anna.follow { if $0.state == .ringing { await there.service.close() } }
        #expect(states.last == .ended(CallEnd(by: ben, .failed("The peer left."))))
        await anna.leave()
        await there.leave()
    }

    @Test("A controller that closes hangs up, and the peer is notified")
    func close() async throws {
        let (room, media) = (LocalSignalingRoom(), SharedMedia())
        let (anna, ben) = (try Side("anna", room, media), try Side("ben", room, media))
        await anna.calls.place(ben.id)
        async let atAnna = anna.follow { if $0.state == .connected { await ben.leave() } }
        _ = await ben.follow { if $0.state == .ringing { await ben.calls.answer($0.id) } }
        #expect(await atAnna.last == .ended(CallEnd(by: ben.id, .hungUp)))
        await anna.leave()
    }

    @Test("The JSON form of an end is read as it was written; any other text is an error")
    func json() throws {
        let (anna, call) = (try PeerID("anna"), try CallID("c-1"))
        let reasons: [CallEnd.Reason] = [
            .declined(nil), .declined("no \u{201C}time\u{201D}"), .missed, .busy(retryAfter: nil),
            .busy(retryAfter: .seconds(30)), .cancelled, .hungUp, .failed("no path"), .timedOut(.reaching),
            .timedOut(.connecting),
        ]
        for reason in reasons {
            let envelope = SignalingEnvelope(
                from: anna, .call(CallMessage(call, .ended(CallEnd(by: anna, reason)))))
            #expect(try SignalingEnvelope(json: Array(envelope.json.utf8)) == envelope)
        }
        for text in [
            #"{"type":"ended","call":"c-1","by":"anna"}"#, #"{"type":"ended","call":"c-1","why":"missed"}"#,
            #"{"type":"ended","call":"c-1","by":"anna","why":"bored"}"#,
            #"{"type":"ended","call":"c-1","by":"anna","why":"timedOut"}"#,
            #"{"type":"ended","call":"c-1","by":"a b","why":"missed"}"#,
        ] {
            #expect(throws: InletError.self, "\(text)") { try SignalingEnvelope(json: Array(text.utf8)) }
        }
    }
}
