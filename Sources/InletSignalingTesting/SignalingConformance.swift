import InletCore
public import InletRTC
public import InletTesting

/// Checks a signaling service against the contract of ``SignalingService``, for any author and with any test framework:
///
///     #expect(await SignalingConformance().check { id, instance in
///         MySignaling(server: address, id: id, instance: instance)
///     } == [])
///
/// The rules: `opening`, `delivery` in order, `routing` to the one that is named, `eitherFirst`, `calls`, `errors`,
/// `replacement` of a channel, `reset`, `growth`, `liveness` and `close`.
public struct SignalingConformance: Sendable {
    /// Returns a member of one room that lives as long as the check. It may still be connecting.
    ///
    /// The instance is what ``SignalingInstance`` stands for; a service that does not carry it ignores it.
    public typealias Maker = @Sendable (PeerID, SignalingInstance) async throws -> any SignalingService

    /// How long anything may take. The default is 10 seconds.
    public var limit = Duration.seconds(10)
    /// Whether the service tells who comes and goes. The default is true.
    public var hasPresence = true
    /// Whether the service tells that a peer begins anew. The default is true.
    public var tellsReset = true
    /// Breaks the connection of a member without a goodbye, as a cut cable or a killed process would; nil if that
    /// cannot be done. Others must see within ``limit`` that it has gone, or that it is there again. The default is
    /// nil.
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
