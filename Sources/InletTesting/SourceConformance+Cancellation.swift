import InletCore

extension SourceConformance {
    /// Checks that a source that is cancelled before it opens returns soon, with or without an error, and can still be
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

    /// Checks that a source that is cancelled inside `next` returns soon.
    func checkCancellationWhileRunning(
        _ configuration: any FrameSourceConfiguration, _ violations: inout [Violation]
    ) async {
        var best = Duration.seconds(1_000_000)
        for attempt in 0..<attempts where best > cancellationLimit {
            let runner = SourceRunner(configuration, limit: callLimit)
            guard case .returned = await runner.open(), case .returned(_?) = await runner.next() else {
                _ = await runner.close()
                return
            }
            async let call = runner.next()
            // Some attempts cancel as the call begins, some when it is probably waiting.
            try? await Task.sleep(for: .milliseconds(5 * attempt))
            runner.cancel()
            let outcome = await call
            if case .hung = outcome { break }
            best = min(best, runner.timeAfterCancellation)
            if case .threw(let error, _) = outcome, error.code != .cancelled {
                violations.append(
                    Violation(
                        "cancellation",
                        "next threw \(error.code) instead of cancelled after a cancellation: \(error)"))
                best = .zero
            }
            _ = await runner.close()
        }
        if best > cancellationLimit {
            violations.append(
                Violation(
                    "cancellation", "next took \(told(best)) after a cancellation; \(cancellationLimit) are allowed"))
        }
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
