import InletCore

extension Capturer {
    /// What happened so far, in the core's words.
    func report(at now: MonotonicTime) -> CaptureReport {
        let (statistics, state) = (statistics, state)
        var report = CaptureReport()
        report.source = sourceName
        report.state = state.phase
        report.stateDescription = state.description
        report.captured = statistics.captured
        report.converted = statistics.converted
        report.frameRate = statistics.recentFrameRate
        report.lastFrameAge = statistics.lastArrival.map { now - $0 }
        report.sourceDrops = statistics.sourceDrops
        report.openings = statistics.supervision.openings
        report.stalls = statistics.supervision.stalls
        report.failures = statistics.supervision.failures
        report.lastFailure = statistics.supervision.lastFailure?.description
        report.outage = statistics.supervision.outage
        report.captureLatency = .init(statistics.captureLatency)
        report.sinks = statistics.sinks.map { sink in
            var result = CaptureReport.SinkReport(id: sink.id.description, name: sink.name)
            result.isAttached = sink.isAttached
            result.delivered = sink.delivered
            result.drops = sink.drops
            result.queue = .init(sink.queueLatency)
            result.conversion = .init(sink.conversionTime)
            result.delivery = .init(sink.deliveryLatency)
            result.consume = .init(sink.consumeTime)
            return result
        }
        return report
    }
}

extension CaptureReport.StageReport {
    fileprivate init(_ distribution: LatencyDistribution) {
        self.init()
        count = distribution.count
        total = distribution.total
        median = distribution.value(at: 0.5)
        percentile99 = distribution.value(at: 0.99)
        maximum = distribution.maximum
    }
}
