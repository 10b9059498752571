import InletCapture
import InletCore
import InletTesting
import Logging
import Testing

/// Random faults on real threads. The seed determines a run's schedule, but not the order in which threads run.
@Suite(.timeLimit(.minutes(5))) struct RandomRunTests {
    @Test(
        "Whatever sources, sinks and the application do, a run ends, closes its sources, finishes its sinks and keeps time in order"
    )
    func runs() async {
        let broken = await withTaskGroup(of: String?.self, returning: [String].self) { group in
            var broken: [String?] = []
            for seed in 0..<300 as Range<UInt64> {
                // As many at a time as in a busy recorder.
                if seed >= 32 { broken.append(await group.next() ?? nil) }
                group.addTask {
                    let wrong = await RandomRun(seed: seed).play()
                    return wrong.isEmpty ? nil : "seed \(seed): \(wrong.joined(separator: "; "))"
                }
            }
            for await line in group { broken.append(line) }
            return broken.compactMap { $0 }
        }
        for line in broken { Issue.record("\(line)") }
    }
}

private struct RandomRun {
    private var random: SplitMix64
    private let source: ScriptedSourceConfiguration
    private let isDeaf: Bool

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var isDeaf = false
        var scripts: [ScriptedSource.Script] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let opening = Self.fault(&random, likely: 0.3, &isDeaf)
            let closing = Self.fault(&random, likely: 0.1, &isDeaf)
            var steps: [ScriptedSource.Step] = []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                steps += [ScriptedSource.Step].frames(Int.random(in: 0...20, using: &random))
                steps += Self.fault(&random, likely: 0.6, &isDeaf)
            }
            scripts.append(
                ScriptedSource.Script(
                    format: ScriptedSource.format(pacing: .live), opening: opening, closing: closing,
                    standsStill: Bool.random(using: &random), steps))
        }
        // The last source is used for all further attempts, and delivers frames.
        scripts.append(
            ScriptedSource.Script(
                format: ScriptedSource.format(pacing: .live),
                [ScriptedSource.Step](repeating: .sleep(.milliseconds(1)), count: 2000).flatMap { [$0] + .frames(1) }))
        source = ScriptedSourceConfiguration(scripts)
        self.isDeaf = isDeaf
        self.random = random
    }

    private static func fault(
        _ random: inout SplitMix64, likely: Double, _ isDeaf: inout Bool
    ) -> [ScriptedSource.Step] {
        guard random.fraction() < likely else { return [] }
        switch Int.random(in: 0...9, using: &random) {
        case 0: return [.hang]
        case 1: return [.stall(.seconds(60))]
        case 2: return [.stall(.milliseconds(30))]
        case 3: return [.sleep(.milliseconds(5))]
        case 4: return [.interrupt("busy"), .sleep(.milliseconds(10))]
        case 5: return [.drop(.damaged, 3)]
        case 6: return [.frame(ScriptedFrame(pts: .random(in: .min ... .max, using: &random)))]
        case 7: return [.frame(ScriptedFrame(pts: nil))]
        case 8 where Int.random(in: 0...3, using: &random) == 0:
            isDeaf = true
            return [.ignoreCancellation(.milliseconds(150))]
        default: return [.fail(InletError(.disconnected, "gone"))]
        }
    }

    private static func sink(_ random: inout SplitMix64, _ log: RecordingSink.Log) -> RecordingSink {
        var behavior = RecordingSink.Behavior()
        switch Int.random(in: 0...5, using: &random) {
        case 0: behavior.frameError = (Int.random(in: 0...20, using: &random), InletError(.resourceExhausted, "full"))
        case 1: behavior.frameLimit = Int.random(in: 0...20, using: &random)
        case 2: behavior.delay = (.milliseconds(3), SystemClock())
        case 3: behavior.startError = InletError(.permissionDenied, "no")
        default: break
        }
        return RecordingSink(behavior, log: log)
    }

    /// - Returns: the broken guarantees.
    func play() async -> [String] {
        var random = random
        var configuration = CapturerConfiguration()
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.retry.maximumDelay = .milliseconds(5)
        configuration.timeouts.open = .milliseconds(60)
        configuration.timeouts.firstFrame = .milliseconds(60)
        configuration.timeouts.nextFrame = .milliseconds(60)
        configuration.timeouts.stall = .milliseconds(10)
        configuration.stopTimeout = .milliseconds(isDeaf ? 100 : 5000)
        configuration.maximumAbandonedThreads = 100
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        if Bool.random(using: &random) { configuration.outage = OutagePolicy(.hold, frameRate: Rational(200)) }
        let capturer = Capturer(source, configuration: configuration)
        var logs: [RecordingSink.Log] = []
        var ids: [SinkID] = []
        let policies: [QueuePolicy] = [
            .latest, .buffered(2, dropping: .oldest), .buffered(2, dropping: .newest), .lossless(2),
        ]
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let log = RecordingSink.Log()
            logs.append(log)
            ids.append(capturer.attach(Self.sink(&random, log), queue: policies.randomElement(using: &random)))
        }
        async let outcome: Result<EndReason, InletError> = {
            do throws(InletError) { return .success(try await capturer.run()) } catch { return .failure(error) }
        }()
        for _ in 0..<Int.random(in: 0...10, using: &random) {
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
            switch Int.random(in: 0...6, using: &random) {
            case 0: capturer.pause()
            case 1, 2: capturer.resume()
            case 3: capturer.setEnabled(Bool.random(using: &random))
            case 4:
                let log = RecordingSink.Log()
                logs.append(log)
                ids.append(capturer.attach(Self.sink(&random, log), queue: policies.randomElement(using: &random)))
            case 5: if let id = ids.randomElement(using: &random) { try? await capturer.detach(id) }
            default: _ = capturer.statistics
            }
        }
        capturer.stop()
        let result = await outcome
        // A sink that was attached after the end finishes on a separate queue.
        for id in ids { try? await capturer.detach(id) }
        return check(capturer, result, logs)
    }

    private func check(
        _ capturer: Capturer, _ result: Result<EndReason, InletError>, _ logs: [RecordingSink.Log]
    ) -> [String] {
        var wrong: [String] = []
        if case .failure(let error) = result, !isDeaf { wrong.append("failed with \(error)") }
        if capturer.statistics.supervision.abandonments == 0,
            source.log.count(of: .close) != source.log.count(of: .open)
        {
            wrong.append("\(source.log.count(of: .open)) opened, \(source.log.count(of: .close)) closed")
        }
        if !isDeaf, capturer.statistics.supervision.abandonments > 0 { wrong.append("a well-made source was given up") }
        for (index, log) in logs.enumerated() {
            if !zip(log.frames, log.frames.dropFirst()).allSatisfy({
                $0.timestamp < $1.timestamp && $0.sequence < $1.sequence
            }) {
                wrong.append("the frames of sink \(index) are out of order")
            }
            if log.frames.contains(where: { $0.timestamp > $0.stages.delivered ?? $0.timestamp }) {
                wrong.append("sink \(index) got a frame from the future")
            }
            let isStarted = !log.formats.isEmpty
            let failedToStart = log.frames.isEmpty && isStarted && !log.isFinished
            if isStarted, !log.isFinished, !failedToStart { wrong.append("sink \(index) was not finished") }
        }
        for sink in capturer.statistics.sinks where sink.isAttached { wrong.append("\(sink.name) is still attached") }
        return wrong
    }
}
