import InletCore
import InletTesting
import Synchronization
import Testing

/// For each rule of the suite there is a sink that breaks only this rule.
struct SinkConformanceTests {
    private struct Plain: Error {}

    /// A sink whose faults are enabled by name.
    struct Faulty: FrameSinkConfiguration {
        enum Fault {
            case none, throwsAtStart, throwsAtFrame, stops, throwsAtFinish, needsFrames, keepsFrames, keepsBeyondFinish
            case untypedSizeError, wrongSizeError, refusesSize, sharesOutput, hangs
        }
        final class Shared: Sendable {
            let users = Atomic<Int>(0)
            let held = Mutex<[VideoFrame]>([])
        }
        let fault: Fault
        let shared: Shared
        let redactedURI = "faulty:"

        init(_ fault: Fault, _ shared: Shared = Shared()) {
            self.fault = fault
            self.shared = shared
        }

        func makeSink() -> any FrameSink { Sink(fault, shared) }

        final class Sink: FrameSink {
            let fault: Fault
            let shared: Shared
            var size: ImageSize?
            var kept: [VideoFrame] = []

            init(_ fault: Fault, _ shared: Shared) {
                self.fault = fault
                self.shared = shared
            }

            func start(_ format: VideoFormat, _ context: SinkContext) throws {
                if fault == .throwsAtStart { throw InletError(.inputOutput, "no") }
                if fault == .sharesOutput, shared.users.load(ordering: .relaxed) > 0 { throw InletError(.busy, "no") }
                shared.users.add(1, ordering: .relaxed)
                size = format.size
            }

            func consume(_ frame: VideoFrame) throws {
                switch fault {
                case .throwsAtFrame: throw InletError(.inputOutput, "no")
                case .stops: throw SinkStopped()
                case .keepsFrames: kept.append(frame)
                case .keepsBeyondFinish: shared.held.withLock { $0 = [frame] }
                case .hangs: Gate().pass()
                default: break
                }
                guard frame.size != size else { return }
                switch fault {
                case .untypedSizeError: throw Plain()
                case .wrongSizeError: throw InletError(.internal, "no")
                case .refusesSize: throw InletError(.unsupported, "no")
                default: break
                }
                kept = fault == .needsFrames ? [frame] : kept
            }

            func finish() throws {
                shared.users.subtract(1, ordering: .relaxed)
                kept = []
                if fault == .throwsAtFinish { throw InletError(.inputOutput, "no") }
            }
        }
    }

    @Test(
        "each fault of a sink is found and reported by its rule",
        arguments: [
            (Faulty.Fault.none, []), (.refusesSize, []), (.throwsAtStart, ["start"]),
            (.throwsAtFrame, ["frames", "sizeChange"]),
            (.stops, ["frames", "sizeChange"]),
            (.throwsAtFinish, ["finish", "independence", "finishWithoutFrames", "sizeChange"]),
            (.keepsFrames, ["retention"]), (.keepsBeyondFinish, ["retention", "release"]),
            (.untypedSizeError, ["sizeChange"]), (.wrongSizeError, ["sizeChange"]), (.sharesOutput, ["independence"]),
            (.hangs, ["frames", "retention", "finish", "sizeChange"]),
        ] as [(Faulty.Fault, [String])])
    func faults(fault: Faulty.Fault, rules: [String]) async {
        var suite = SinkConformance()
        if fault == .hangs { suite.callLimit = .seconds(3) }
        let shared = Faulty.Shared()
        let violations = await suite.check { Faulty(fault, shared) }
        #expect(Set(violations.map(\.rule)) == Set(rules), "\(violations)")
        #expect(violations.allSatisfy { !$0.explanation.isEmpty })
    }

    @Test("a sink may hold the allowed number of pictures")
    func retention() async {
        var suite = SinkConformance()
        suite.retainedFrames = suite.frames
        #expect(await suite.check { Faulty(.keepsFrames) } == [])
    }

    @Test("an output that cannot be opened must be a typed error")
    func unusable() async {
        var suite = SinkConformance()
        suite.unusable = Faulty(.none)
        #expect(await suite.check { Faulty(.none) }.map(\.rule) == ["typedErrors"])
        suite.unusable = Faulty(.throwsAtStart)
        #expect(await suite.check { Faulty(.none) } == [])
    }
}
