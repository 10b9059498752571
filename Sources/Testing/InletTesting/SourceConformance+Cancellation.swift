import InletCore

extension SourceConformance {
    /// Checks that a source that is cancelled before it opens returns soon, with or without an error, and can be
    /// closed.
    func checkCancellationBeforeOpen(
        _ configuration: any FrameSourceConfiguration, _ violations: inout [Violation]
    ) async {
        var best = Duration.seconds(1_000_000)
        for _ in 0..<attempts where best > cancellationLimit {
            let runner = SourceRunner(configuration, limit: callLimit)
            runner.cancel()
            let outcome = await runner.open()
            if case .hung = outcome { break }
            best = min(best, runner.timeAfterCancellation)
            if case .threw(let error, _) = outcome, error.code != .cancelled {
                violations.append(
                    Violation(
                        "cancellation", "open threw \(error.code) instead of cancelled after a cancellation: \(error)"))
                best = .zero
            }
            _ = await runner.close()
        }
        if best > cancellationLimit {
            violations.append(
                Violation(
                    "cancellation", "open took \(told(best)) after a cancellation; \(cancellationLimit) are allowed"))
        }
    }

    /// Checks that a source returns soon if it is cancelled right before or during a call of `next`.
    func checkCancellationWhileRunning(
        _ configuration: any FrameSourceConfiguration, _ violations: inout [Violation]
    ) async {
        let before = [Duration](repeating: .zero, count: attempts)
        let inside = (0..<attempts).map { Duration.milliseconds(5 * ($0 + 1)) }
        for delays in [before, inside] {
            if let violation = await checkCancellation(configuration, after: delays) {
                violations.append(violation)
                return
            }
        }
    }

    /// Opens a source for each delay, until one stops `next` in time.
    ///
    /// A call that ended before its source was cancelled proves nothing. If most calls end before that, as those of a
    /// file do, the others were delayed by a busy machine.
    ///
    /// - Returns: the violation if no call stopped in time.
    private func checkCancellation(
        _ configuration: any FrameSourceConfiguration, after delays: [Duration]
    ) async -> Violation? {
        var best: Duration?
        var cancelled = 0
        for delay in delays where best.map({ $0 > cancellationLimit }) ?? true {
            let runner = SourceRunner(configuration, limit: callLimit)
            guard case .returned = await runner.open(), case .returned(_?) = await runner.next() else {
                _ = await runner.close()
                break
            }
            let outcome = await runner.next(cancelledAfter: delay)
            if case .hung = outcome {
                (best, cancelled) = (.seconds(1_000_000), delays.count)
                break
            }
            let wasInTime = runner.wasCancelledInTime
            if wasInTime {
                cancelled += 1
                best = min(best ?? runner.timeAfterCancellation, runner.timeAfterCancellation)
            }
            _ = await runner.close()
            if wasInTime, case .threw(let error, _) = outcome, error.code != .cancelled {
                return Violation(
                    "cancellation", "next threw \(error.code) instead of cancelled after a cancellation: \(error)")
            }
        }
        guard let best, best > cancellationLimit, cancelled > delays.count / 2 else { return nil }
        return Violation(
            "cancellation", "next took \(told(best)) after a cancellation; \(cancellationLimit) are allowed")
    }

    private func told(_ best: Duration) -> String { best > callLimit ? "more than \(callLimit)" : "\(best)" }

    /// Checks that two sources of one configuration, read in turn, count their frames independently.
    func checkTwoAtOnce(_ configuration: any FrameSourceConfiguration, _ violations: inout [Violation]) async {
        let runners = (SourceRunner(configuration, limit: callLimit), SourceRunner(configuration, limit: callLimit))
        var broken: String?
        for runner in [runners.0, runners.1] where broken == nil {
            if case .returned = await runner.open() { continue }
            broken = "a source does not open while another of the same configuration runs"
        }
        for index in 0..<2 where broken == nil {
            for runner in [runners.0, runners.1] {
                guard case .returned(let item) = await runner.next() else {
                    broken = "a source fails while another of the same configuration runs"
                    break
                }
                if index == 0, let frame = item?.frame, frame.sequence != 0 {
                    broken = "two sources of the same configuration share one count of frames"
                }
            }
        }
        for runner in [runners.0, runners.1] { _ = await runner.close() }
        if let broken { violations.append(Violation("independence", broken)) }
    }
}
