import Inlet

/// Starts and stops a thousand capturers, and counts what they leave behind.
enum Cycles {
    static func measure() async throws {
        for _ in 0..<200 { try await once() }
        let before = ProcessFigures.now()
        for _ in 0..<1000 { try await once() }
        let after = ProcessFigures.now()
        report(
            "1000 cycles",
            [
                "threads_before": Double(before.threads), "threads_after": Double(after.threads),
                "descriptors_before": Double(before.descriptors), "descriptors_after": Double(after.descriptors),
                "heap_bytes_a_cycle": Double(after.heapBytes - before.heapBytes) / 1000,
            ])
    }

    private static func once() async throws {
        let capturer = Capturer(
            try PluginRegistry.standard.source("pattern:ball?size=160x120&fps=1000"), configuration: .quiet)
        capturer.attach(CountingSink())
        let run = Task { try await capturer.run() }
        while capturer.statistics.delivered < 2 { await Task.yield() }
        capturer.stop()
        _ = try await run.value
    }
}
