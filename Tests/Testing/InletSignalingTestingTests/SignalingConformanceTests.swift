import InletCore
import InletRTC
import InletSignalingTesting
import InletTesting
import Testing

/// The check of signaling services passes a correct one, and reports the rules that others break.
@Suite struct SignalingConformanceTests {
    @Test("A room in memory keeps the contract", .timeLimit(.minutes(1)))
    func memory() async {
        let room = LocalSignalingRoom()
        let violations = await SignalingConformance().check { id, instance in
            try room.enter(as: id, instance: instance)
        }
        #expect(violations == [])
    }

    @Test("A service that swallows calls, one without other members, and one that cannot be made are found")
    func violations() async {
        let room = LocalSignalingRoom()
        var rules = SignalingConformance()
        rules.limit = .milliseconds(200)
        let broken = await rules.check { id, instance in
            Deaf(try room.enter(as: id, instance: instance))
        }
        #expect(Set(broken.map(\.rule)).isSuperset(of: ["calls", "errors"]))
        let silent = await rules.check { id, _ in
            // Each member is alone in its room.
            try LocalSignalingRoom().enter(as: id)
        }
        #expect(silent.map(\.rule).contains("opening"))
        let impossible = await rules.check { _, _ in throw InletError(.notFound, "no server") }
        #expect(impossible.map(\.rule) == ["opening"])
    }

    /// Swallows calls, and reports them as sent.
    private final class Deaf: SignalingService {
        private let service: any SignalingService
        init(_ service: any SignalingService) { self.service = service }
        var localID: PeerID { service.localID }
        var isOpen: Bool { service.isOpen }
        func events() -> AsyncStream<SignalingEvent> { service.events() }
        func channel(to peer: PeerID) throws(InletError) -> any SignalingChannel { try service.channel(to: peer) }
        func send(_ message: CallMessage, to peer: PeerID) async throws(SignalingFailure) {}
        func close() async { await service.close() }
    }
}
