import Inlet

/// Starts and stops a thousand capturers, and counts their leftovers.
enum Cycles {
    private static let cycles = 1000
    /// During these starts, thread stacks and the allocator's arenas and caches reach their full size.
    private static let warmUp = 1000

    static func measure() async throws {
        for _ in 0..<warmUp { try await once() }
        try await Task.sleep(for: .milliseconds(500))
        let before = ProcessFigures.now()
        for _ in 0..<cycles { try await once() }
        try await Task.sleep(for: .milliseconds(500))
        let after = ProcessFigures.now()
        report(
            "1000 cycles",
            [
                "inlet_threads_before": Double(before.inletThreads), "inlet_threads_after": Double(after.inletThreads),
                "descriptors_before": Double(before.descriptors), "descriptors_after": Double(after.descriptors),
                "heap_bytes_a_cycle": Double(after.heapBytes - before.heapBytes) / Double(cycles),
            ])
    }

    private static func once() async throws {
        let capturer = Capturer(
            try PluginRegistry.standard.source("pattern:ball?size=160x120&fps=1000"), configuration: .quiet)
        capturer.attach(CountingSink())
        let run = Task { try await capturer.run() }
        while capturer.statistics.delivered < 2 { try await Task.sleep(for: .milliseconds(1)) }
        capturer.stop()
        _ = try await run.value
    }
}
