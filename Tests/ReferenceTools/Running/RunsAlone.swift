public import Testing

/// A trait of tests that measure or load the processor, or measure time or memory: they run while no other test with
/// the same ``ConcurrencyLimit`` runs. It has no effect without such a limit.
public struct RunsAlone: SuiteTrait, TestTrait {
    public var isRecursive: Bool { true }
}

extension Trait where Self == RunsAlone {
    /// The test runs while no other test of its suite runs.
    public static var alone: RunsAlone { RunsAlone() }
}
