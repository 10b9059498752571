public import CoreMetrics
import InletCore
import Synchronization

/// Publishes a capturer's statistics to swift-metrics, at an interval, while the capturer runs.
///
///     let capturer = Capturer(source)
///     let metrics = CaptureMetrics(capturer)
///     async let published: Void = metrics.run()
///     try await capturer.run()
///     await published
///
/// It reads ``Capturer/statistics`` from outside, so a frame's path is the same with and without it.
/// `Docs/reference/metrics.md` lists the metrics. Safe from any thread.
public final class CaptureMetrics: Sendable {
    private let capturer: Capturer
    private let interval: Duration
    private let factory: (any MetricsFactory)?
    private let published = Mutex(Published())

    /// The values last published, from which the next differences are taken.
    private struct Published {
        var statistics = CaptureStatistics()
        var phase: CapturePhase?
    }

    /// - Parameters:
    ///   - capturer: the capturer whose statistics are published.
    ///   - interval: the time between two publications by the capturer's clock, at least 10 ms. The default is
    ///     5 seconds.
    ///   - factory: makes the metrics. The default is the application's, `MetricsSystem`.
    public init(
        _ capturer: Capturer, interval: Duration = .seconds(5), factory: (any MetricsFactory)? = nil
    ) {
        self.capturer = capturer
        self.interval = max(interval, .milliseconds(10))
        self.factory = factory
    }

    /// Publishes until the capturer has ended or the task is cancelled, and once more at the end, so that nothing is
    /// missing.
    public func run() async {
        let events = capturer.events
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // The sequence ends with the run, and with the task.
                for await _ in events {}
            }
            group.addTask {
                while !Task.isCancelled {
                    self.publish()
                    await self.capturer.clock.sleep(for: self.interval)
                }
            }
            await group.next()
            group.cancelAll()
        }
        publish()
    }

    /// Publishes the changes since the last time.
    public func publish() {
        let (statistics, state) = (capturer.statistics, capturer.state)
        publish(statistics, phase: state.phase)
    }

    func publish(_ statistics: CaptureStatistics, phase: CapturePhase) {
        // The lock also keeps two publications from mixing their differences.
        published.withLock { published in
            let publication = Publication(
                source: capturer.sourceName, before: published.statistics, now: statistics,
                factory: factory ?? MetricsSystem.factory)
            publication.publishSource()
            for sink in statistics.sinks { publication.publish(sink) }
            if let last = published.phase, last != phase { publication.set(last, to: 0) }
            publication.set(phase, to: 1)
            published = Published(statistics: statistics, phase: phase)
        }
    }
}

/// A single round of metrics.
private struct Publication {
    let source: String
    let before: CaptureStatistics
    let now: CaptureStatistics
    let factory: any MetricsFactory

    typealias Dimensions = [(String, String)]
    private var sourceOnly: Dimensions { [("source", source)] }

    func publishSource() {
        count("inlet_frames_captured_total", sourceOnly, before.captured, now.captured)
        count("inlet_frames_converted_total", sourceOnly, before.converted, now.converted)
        drops("inlet_source_frames_dropped_total", sourceOnly, before.sourceDrops, now.sourceDrops)
        if let reception = now.reception { publish(reception, before.reception ?? ReceptionFigures()) }
        time("inlet_capture_latency_seconds", sourceOnly, before.captureLatency, now.captureLatency)
        if let rate = now.recentFrameRate { meter("inlet_frame_rate", sourceOnly).set(rate) }
        meter("inlet_sinks_attached", sourceOnly).set(now.sinks.count(where: \.isAttached))
        let (past, present) = (before.supervision, now.supervision)
        count("inlet_source_openings_total", sourceOnly, past.openings, present.openings)
        count("inlet_source_stalls_total", sourceOnly, past.stalls, present.stalls)
        count("inlet_source_placeholders_total", sourceOnly, past.placeholders, present.placeholders)
        count("inlet_source_plugin_updates_total", sourceOnly, past.updates, present.updates)
        meter("inlet_source_abandoned_threads", sourceOnly).set(present.abandonedThreads)
        for (code, failures) in present.failures {
            count(
                "inlet_source_failures_total", sourceOnly + [("code", "\(code)")], past.failures[code], failures)
        }
    }

    private func publish(_ now: ReceptionFigures, _ before: ReceptionFigures) {
        count("inlet_source_packets_received_total", sourceOnly, before.packets, now.packets)
        count("inlet_source_packets_lost_total", sourceOnly, before.packetsLost, now.packetsLost)
        count("inlet_source_packets_duplicated_total", sourceOnly, before.packetsDuplicated, now.packetsDuplicated)
        count("inlet_source_packets_reordered_total", sourceOnly, before.packetsReordered, now.packetsReordered)
        count("inlet_source_packets_recovered_total", sourceOnly, before.packetsRecovered, now.packetsRecovered)
        count("inlet_source_packets_late_total", sourceOnly, before.packetsLate, now.packetsLate)
        meter("inlet_source_jitter_seconds", sourceOnly).set(Double(now.jitter.wholeNanoseconds) / 1e9)
        count("inlet_source_key_frame_requests_total", sourceOnly, before.keyFrameRequests, now.keyFrameRequests)
        count("inlet_source_key_frame_responses_total", sourceOnly, before.keyFrameResponses, now.keyFrameResponses)
        guard now.keyFrameResponses > 0 else { return }
        meter("inlet_source_key_frame_response_seconds", sourceOnly)
            .set(Double(now.keyFrameResponseTime.wholeNanoseconds) / 1e9 / Double(now.keyFrameResponses))
    }

    func publish(_ sink: CaptureStatistics.Sink) {
        let dimensions = [("source", source), ("sink", sink.name)]
        let before = before.sinks.first { $0.id == sink.id }
        count("inlet_sink_frames_delivered_total", dimensions, before?.delivered, sink.delivered)
        drops("inlet_sink_frames_dropped_total", dimensions, before?.drops, sink.drops)
        if let sessions = sink.sessions {
            meter("inlet_sink_sessions", dimensions).set(sessions.open)
            meter("inlet_sink_sessions_pending", dimensions).set(sessions.pending)
            count(
                "inlet_sink_sessions_opened_total", dimensions, before?.sessions?.opened, sessions.opened)
        }
        time("inlet_sink_queue_latency_seconds", dimensions, before?.queueLatency, sink.queueLatency)
        time("inlet_sink_conversion_time_seconds", dimensions, before?.conversionTime, sink.conversionTime)
        time("inlet_sink_delivery_latency_seconds", dimensions, before?.deliveryLatency, sink.deliveryLatency)
        time("inlet_sink_consume_time_seconds", dimensions, before?.consumeTime, sink.consumeTime)
    }

    func set(_ phase: CapturePhase, to value: Int64) {
        meter("inlet_capturer_state", sourceOnly + [("state", phase.rawValue)]).set(value)
    }

    private func count(_ label: String, _ dimensions: Dimensions, _ before: UInt64?, _ now: UInt64) {
        let before = before ?? 0
        // Even at zero, so that a counter exists from the start: a rate needs two values.
        guard now > before || before == 0 else { return }
        Counter(label: label, dimensions: dimensions, factory: factory).increment(by: Int64(clamping: now - before))
    }

    private func drops(
        _ label: String, _ dimensions: Dimensions, _ before: [DropReason: UInt64]?, _ now: [DropReason: UInt64]
    ) {
        for (reason, number) in now {
            count(label, dimensions + [("reason", reason.description)], before?[reason], number)
        }
    }

    private func time(
        _ label: String, _ dimensions: Dimensions, _ before: LatencyDistribution?, _ now: LatencyDistribution
    ) {
        let buckets = now.buckets(since: before ?? LatencyDistribution())
        guard !buckets.isEmpty else { return }
        let timer = Timer(label: label, dimensions: dimensions, factory: factory)
        for bucket in buckets {
            let nanoseconds = min(bucket.middle, now.maximum).wholeNanoseconds
            for _ in 0..<bucket.count { timer.recordNanoseconds(nanoseconds) }
        }
    }

    private func meter(_ label: String, _ dimensions: Dimensions) -> Meter {
        Meter(label: label, dimensions: dimensions, factory: factory)
    }
}
