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
        // The state that was last drawn, and the time since which it holds.
        var (state, stateSince) = (capturer.state, clock.now)
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            let now = clock.now
            let statistics = capturer.statistics
            if state != capturer.state { (state, stateSince) = (capturer.state, now) }
            // Rates cover about the last second, so that they change slowly enough to read.
            var fields = StatusFields()
            fields.append(Self.text(of: state, for: now - stateSince), .state)
            if case .waiting = state, let error = statistics.supervision.lastFailure {
                fields.append(error.message, .trouble)
            }
            fields.append(statistics, before: before, over: now - since)
            // A terminal that wraps the line would print each update on a new line.
            Terminal.writeError("\r\u{1B}[K" + fields.text(width: Terminal.width - 1))
            if now - since > .seconds(1) { (before, since) = (statistics, now) }
        }
        Terminal.writeError("\r\u{1B}[K")
    }

    /// The state, with the remaining time of a wait.
    static func text(of state: CapturerState, for time: Duration) -> String {
        guard case .waiting(let attempt, let delay) = state else { return state.description }
        return CapturerState.waiting(attempt: attempt, delay: max(.zero, delay - time)).description
    }
}

extension StatusFields {
    /// Appends what the statistics show, in the order of the line.
    mutating func append(_ statistics: CaptureStatistics, before: CaptureStatistics, over time: Duration) {
        let seconds = max(Double(time.wholeNanoseconds) / 1e9, 1e-3)
        let sinks = Double(max(statistics.sinks.count, 1))
        let rateIn = Double(statistics.captured - min(before.captured, statistics.captured)) / seconds
        let rateOut = Double(statistics.delivered - min(before.delivered, statistics.delivered)) / seconds / sinks
        append("\(statistics.captured) frames", .detail)
        append("in \(rateIn.shortText) fps", .rate)
        append("out \(rateOut.shortText) fps", .detail)
        // A sink without viewers needs no frames, so these drops are no loss.
        let drops = statistics.drops.filter { $0.key != .notConnected }.sorted { $0.value > $1.value }
        let dropped = drops.prefix(3).map { "\($0.value) \($0.key)" }
        append("dropped " + (dropped.isEmpty ? "0" : dropped.joined(separator: " ")), .rate)
        if let reception = statistics.reception, reception.lossText != nil || reception.lossRemedy != nil {
            let loss = reception.lossText ?? "less than 0.1 %"
            append("\(loss) of packets lost" + (reception.lossRemedy.map { ": \($0.text)" } ?? ""), .rate)
        }
        if let latency = RunReport.Latency(statistics.sinks.map(\.deliveryLatency)) {
            append("latency p50 \(latency.p50.millisecondsText) p99 \(latency.p99.millisecondsText) ms", .extra)
        }
        let sessions = statistics.sinks.filter(\.isAttached).compactMap(\.sessions)
        if !sessions.isEmpty {
            let pending = sessions.reduce(0) { $0 + $1.pending }
            append(
                "sessions \(sessions.reduce(0) { $0 + $1.open })" + (pending > 0 ? ", \(pending) pending" : ""), .detail
            )
            for failure in sessions.compactMap({ $0.open == 0 ? $0.failure : nil }).prefix(1) {
                append(failure, .rate)
            }
        }
        let supervision = statistics.supervision
        if supervision.openings > 1 { append("reopened \((supervision.openings - 1).times)", .extra) }
        if supervision.abandonedThreads > 0 {
            append("\(supervision.abandonedThreads) hung thread\(supervision.abandonedThreads == 1 ? "" : "s")", .rate)
        }
    }
}

extension BinaryInteger {
    /// The number in words: `once` or `5 times`.
    var times: String { self == 1 ? "once" : "\(self) times" }
}
