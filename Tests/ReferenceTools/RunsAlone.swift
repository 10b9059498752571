public import Testing

/// A trait of tests that measure time, memory or the processor, or that load it: they run while no other test of the
/// suite with the ``ConcurrencyLimit`` does. Without such a limit it has no effect.
public struct RunsAlone: SuiteTrait, TestTrait {
    public var isRecursive: Bool { true }
}

extension Trait where Self == RunsAlone {
    /// The test runs while no other of its suite does.
    public static var alone: RunsAlone { RunsAlone() }
}
