import InletCore

// Unsafe: has a sink that only its worker's thread uses.
/// One sink of a configuration, driven on a separate thread.
///
/// `@unchecked Sendable`: `sink` is only accessed by the worker's one thread. A call that never returned occupies that
/// thread, and all later ones wait behind it.
final class SinkRunner: @unchecked Sendable {
    private let worker = BlockingWorker()
    private let limits: SinkConformance
    private let pool: I420BufferPool
    private let sink: any FrameSink

    /// The outcome of a call. The code is nil if the error is not an ``InletError``.
    enum Outcome: Sendable {
        case done
        case stopped
        case threw(String, code: InletError.Code?)
        case hung
    }

    init(_ configuration: any FrameSinkConfiguration, _ limits: SinkConformance) {
        self.limits = limits
        pool = I420BufferPool(capacity: limits.frames + 2)
        sink = configuration.makeSink()
    }

    func tryStart() async -> Outcome {
        let format = VideoFormat(
            size: limits.size, timeBase: Rational(1, 30), frameRate: Rational(30), colorSpace: .bt601,
            sampleAspectRatio: Rational(1))
        return await call { sink in try sink.start(format, SinkContext()) }
    }

    func tryConsume(_ index: Int, size: ImageSize) async -> Outcome {
        await call { [pool] sink in
            var draft = try pool.makeBuffer(size: size)
            draft.fill(y: UInt8(16 + index % 200), u: 128, v: 128)
            let nanoseconds = Int64(index) * 33_333_333
            try sink.consume(
                VideoFrame(
                    buffer: draft.publish(), timestamp: MonotonicTime(nanoseconds: 1_000_000_000 + nanoseconds),
                    pts: MediaTime(ticks: Int64(index), timeBase: Rational(1, 30)),
                    duration: MediaTime(ticks: 1, timeBase: Rational(1, 30)), sequence: UInt64(index),
                    colorSpace: .bt601, sampleAspectRatio: Rational(1)))
        }
    }

    /// Starts the sink; a failure breaks `rule`.
    func start(_ rule: String, _ violations: inout [Violation]) async -> Bool {
        report(await tryStart(), of: "start", rule, &violations)
    }

    /// Hands over one frame; a failure breaks `rule`.
    func consume(_ index: Int, _ rule: String, _ violations: inout [Violation]) async -> Bool {
        report(
            await tryConsume(index, size: limits.size), of: "consume of frame \(index)", rule, &violations)
    }

    /// Finishes the sink; a failure breaks `rule`.
    func finish(_ rule: String, _ violations: inout [Violation]) async {
        let outcome = await call { sink in try sink.finish() }
        guard report(outcome, of: "finish", rule, &violations) else { return }
        let held = pool.statistics.inUse
        if held > 0 {
            violations.append(Violation("release", "the sink holds \(held) pictures after finish"))
        }
    }

    /// Checks how many pictures the sink holds between frames.
    func checkRetention(_ violations: inout [Violation]) async {
        let held = pool.statistics.inUse
        if held > limits.retainedFrames {
            violations.append(
                Violation(
                    "retention", "the sink holds \(held) pictures between frames; \(limits.retainedFrames) are allowed")
            )
        }
    }

    private func report(
        _ outcome: Outcome, of operation: String, _ rule: String, _ violations: inout [Violation]
    ) -> Bool {
        switch outcome {
        case .done: return true
        case .stopped: violations.append(Violation(rule, "\(operation) stopped the sink although its output exists"))
        case .threw(let text, _): violations.append(Violation(rule, "\(operation) threw: \(text)"))
        case .hung: violations.append(Violation(rule, "\(operation) did not return within \(limits.callLimit)"))
        }
        return false
    }

    private func call(_ body: @escaping @Sendable (any FrameSink) throws -> Void) async -> Outcome {
        await worker.run(within: limits.callLimit) { () -> Outcome in
            do {
                try body(self.sink)
                return .done
            } catch is SinkStopped {
                return .stopped
            } catch {
                return .threw("\(error)", code: (error as? InletError)?.code)
            }
        } ?? .hung
    }
}
