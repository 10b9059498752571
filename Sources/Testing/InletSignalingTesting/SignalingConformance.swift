import InletCore
public import InletRTC
public import InletTesting

/// Checks a signaling service against the contract of ``SignalingService``, for any author and with any test framework:
///
///     #expect(await SignalingConformance().check { id, instance in
///         MySignaling(server: address, id: id, instance: instance)
///     } == [])
///
/// The rules: `opening`, `delivery` in order, `routing` to the right member, `eitherFirst`, `calls`, `errors`,
/// `replacement` of a channel, `reset`, `growth`, `liveness` and `close`.
public struct SignalingConformance: Sendable {
    /// Returns a member of a room that exists for as long as the check. The member may still be connecting.
    ///
    /// The instance identifies this run of the member (see ``SignalingInstance``); a service that does not transmit it
    /// ignores it.
    public typealias Maker = @Sendable (PeerID, SignalingInstance) async throws -> any SignalingService

    /// The time limit of each step. The default is 10 seconds.
    public var limit = Duration.seconds(10)
    /// Whether the service reports peers that join and leave. The default is true.
    public var hasPresence = true
    /// Whether the service reports that a peer has restarted. The default is true.
    public var tellsReset = true
    /// Breaks the connection of a member without a goodbye, as a cut cable or a killed process would; nil if that is
    /// impossible. Within ``limit``, other members must learn that it has left, or that it is back. The default is nil.
    public var cut: (@Sendable (any SignalingService) async -> Void)?

    public init() {}

    /// Runs all checks.
    ///
    /// - Returns: the rules that were broken; empty for a service that keeps the contract.
    public func check(_ makeService: @escaping Maker) async -> [Violation] {
        var violations: [Violation] = []
        do {
            let run = try await SignalingRun(self, makeService)
            await run.checkAll(&violations)
        } catch {
            violations.append(Violation("opening", "a member cannot be made: \(error)"))
        }
        return violations
    }
}
