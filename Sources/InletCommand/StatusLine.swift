import Inlet

/// One line on the terminal that shows the progress of a run, redrawn five times a second.
struct StatusLine {
    private let capturer: Capturer
    private let clock = SystemClock()
    private static let interval = Duration.milliseconds(200)

    init(_ capturer: Capturer) { self.capturer = capturer }

    /// Draws until the task is cancelled, then removes the line.
    func show() async {
        var before = capturer.statistics
        var since = clock.now
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            let now = clock.now
            let statistics = capturer.statistics
            // Rates over the last second or so, so that they can be read.
            Terminal.writeError("\r\u{1B}[K" + line(statistics, before: before, over: now - since))
            if now - since > .seconds(1) { (before, since) = (statistics, now) }
        }
        Terminal.writeError("\r\u{1B}[K")
    }

    private func line(_ statistics: CaptureStatistics, before: CaptureStatistics, over time: Duration) -> String {
        let seconds = max(Double(time.wholeNanoseconds) / 1e9, 1e-3)
        let sinks = Double(max(statistics.sinks.count, 1))
        let rateIn = Double(statistics.captured - min(before.captured, statistics.captured)) / seconds
        let rateOut = Double(statistics.delivered - min(before.delivered, statistics.delivered)) / seconds / sinks
        var parts = [
            capturer.state.description, "\(statistics.captured) frames", "in \(rateIn.shortText) fps",
            "out \(rateOut.shortText) fps",
        ]
        let drops = statistics.drops
        let dropped = drops.sorted { $0.value > $1.value }.prefix(3).map { "\($0.value) \($0.key)" }
        parts.append("dropped " + (dropped.isEmpty ? "0" : dropped.joined(separator: " ")))
        if let reception = statistics.reception, reception.lossText != nil || reception.lossRemedy != nil {
            let loss = reception.lossText ?? "less than 0.1 %"
            parts.append("\(loss) of packets lost" + (reception.lossRemedy.map { ": \($0.text)" } ?? ""))
        }
        if let latency = RunReport.Latency(statistics.sinks.map(\.deliveryLatency)) {
            parts.append("latency p50 \((latency.p50 / 1000).shortText) p99 \((latency.p99 / 1000).shortText) ms")
        }
        let sessions = statistics.sinks.filter(\.isAttached).compactMap(\.sessions)
        if !sessions.isEmpty {
            let pending = sessions.reduce(0) { $0 + $1.pending }
            parts.append(
                "sessions \(sessions.reduce(0) { $0 + $1.open })" + (pending > 0 ? ", \(pending) pending" : ""))
            parts += sessions.compactMap { $0.open == 0 ? $0.failure : nil }.prefix(1)
        }
        let supervision = statistics.supervision
        if supervision.openings > 1 { parts.append("reopened \(supervision.openings - 1) times") }
        if supervision.abandonedThreads > 0 { parts.append("\(supervision.abandonedThreads) hung threads") }
        if case .waiting = capturer.state, let error = supervision.lastFailure { parts.append(error.message) }
        return parts.joined(separator: "  ")
    }
}
