import Dispatch
import Glibc
import InletCore
import Testing

@testable import InletPluginLoader

extension PluginProcessTests {
    @Suite struct PluginKillTests {
        @Test("A thousand kills at random moments leave nothing, and each error is retried")
        func kills() throws {
            let plugin = try CompiledPlugin("Samples/CSource/bars.c")
            // Excludes permanent leftovers of the first source, such as threads of the queue below.
            _ = try Self.run(plugin, killedAfter: .microseconds(100))
            let (descriptors, maps) = (ProcessFacts.descriptors().count, ProcessFacts.sharedMaps())
            var generator = SplitMix64(seed: 17)
            var (failed, frames) = (0, 0)
            // On a busy machine a source takes longer to its first frame, and more kills are needed to hit all phases.
            for round in 0..<10_000 where round < 1000 || failed <= 100 || frames <= 100 {
                // From the start of the process through its opening to its close.
                let delay = Duration.microseconds(Int.random(in: 0...30_000, using: &generator))
                let outcome = try Self.run(plugin, killedAfter: delay)
                frames += outcome.frames
                guard let error = outcome.error else { continue }
                failed += 1
                #expect(error.code == .disconnected, "\(error)")
            }
            // The kills hit all phases.
            #expect(failed > 100)
            #expect(frames > 100)
            #expect(ProcessFacts.children().isEmpty)
            #expect(ProcessFacts.descriptors().count == descriptors)
            #expect(ProcessFacts.sharedMaps() == maps)
            // The source works again.
            let run = try SourceRun(plugin.source([("size", "64x48"), ("rate", "500")]))
            _ = try run.open()
            #expect(try run.frame() != nil)
        }

        /// Reads frames until the process is killed, and closes the source.
        private static func run(
            _ plugin: CompiledPlugin, killedAfter delay: Duration
        ) throws -> (error: InletError?, frames: Int) {
            let run = try SourceRun(plugin.source([("size", "64x48"), ("rate", "500")]))
            let isOver = DispatchSemaphore(value: 0)
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(delay.wholeNanoseconds))) {
                for child in ProcessFacts.children() { kill(child, SIGKILL) }
                isOver.signal()
            }
            var frames: [SourceFrame] = []
            let error = SourceRun.error {
                _ = try run.open()
                for _ in 0..<6 {
                    guard let frame = try run.frame() else { break }
                    frames.append(frame)
                }
            }
            run.close()
            isOver.wait()
            return (error, frames.count)
        }
    }
}
