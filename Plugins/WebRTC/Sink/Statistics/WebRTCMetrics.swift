public import CoreMetrics
import InletCore
import InletRTC
import Synchronization

/// Publishes metrics of a sink's viewers to swift-metrics, at an interval.
///
///     let metrics = WebRTCMetrics(sink.broadcast)
///     async let published: Void = metrics.run()   // until the task is cancelled
///
/// Metrics do not contain viewers' names, so their number is bounded. `Docs/reference/metrics.md` lists them. Safe
/// from any thread.
public final class WebRTCMetrics: Sendable {
    private let broadcast: WebRTCBroadcast
    private let sink: String
    private let interval: Duration
    private let factory: (any MetricsFactory)?
    private let published = Mutex(Snapshot())

    private struct Snapshot {
        var joined = 0
        var ended: [BroadcastTotals.Reason: Int] = [:]
        var counts = BroadcastTotals.Counts()
    }

    /// Creates a publisher of metrics.
    ///
    /// - Parameters:
    ///   - broadcast: the sink's broadcast, whose statistics are published.
    ///   - sink: the value of the dimension `sink`. The default is `webrtc`.
    ///   - interval: the time between two publications, at least 10 ms. The default is 5 seconds.
    ///   - factory: the receiver of the metrics. The default is the application's, `MetricsSystem`.
    public init(
        _ broadcast: WebRTCBroadcast, sink: String = "webrtc", interval: Duration = .seconds(5),
        factory: (any MetricsFactory)? = nil
    ) {
        self.broadcast = broadcast
        self.sink = sink
        self.interval = max(interval, .milliseconds(10))
        self.factory = factory
    }

    /// Publishes until the task is cancelled, and then one last time.
    public func run() async {
        while !Task.isCancelled {
            publish()
            try? await Task.sleep(for: interval)
        }
        publish()
    }

    /// Publishes the changes since the last time.
    public func publish() {
        let (totals, viewers) = broadcast.totals
        publish(totals, viewers)
    }

    func publish(_ totals: BroadcastTotals, _ viewers: [ViewerStatistics]) {
        var now = Snapshot(joined: totals.joined, ended: totals.ended, counts: totals.past)
        for viewer in viewers { now.counts.add(viewer) }
        // The lock also keeps two publications from mixing their differences.
        published.withLock { before in
            count("inlet_webrtc_viewers_joined_total", before.joined, now.joined)
            for (reason, number) in now.ended {
                count(
                    "inlet_webrtc_sessions_ended_total", before.ended[reason] ?? 0, number,
                    [("reason", reason.rawValue)])
            }
            count("inlet_webrtc_frames_sent_total", before.counts.framesSent, now.counts.framesSent)
            count("inlet_webrtc_frames_dropped_total", before.counts.framesDropped, now.counts.framesDropped)
            count("inlet_webrtc_packets_lost_total", before.counts.packetsLost, now.counts.packetsLost)
            count(
                "inlet_webrtc_key_frame_requests_total", before.counts.keyFrameRequests, now.counts.keyFrameRequests
            )
            count(
                "inlet_webrtc_messages_received_total", before.counts.messagesReceived, now.counts.messagesReceived)
            count("inlet_webrtc_messages_sent_total", before.counts.messagesSent, now.counts.messagesSent)
            count("inlet_webrtc_messages_dropped_total", before.counts.messagesDropped, now.counts.messagesDropped)
            before = now
        }
        let connected = viewers.filter { $0.state == .connected }
        meter("inlet_webrtc_viewers").set(connected.count)
        if let lowest = connected.map(\.bitrate).min() { meter("inlet_webrtc_bitrate_lowest").set(lowest) }
        let timer = Timer(
            label: "inlet_webrtc_round_trip_seconds", dimensions: dimensions,
            factory: factory ?? MetricsSystem.factory)
        for trip in connected.compactMap(\.roundTrip) { timer.recordNanoseconds(trip.wholeNanoseconds) }
    }

    private var dimensions: [(String, String)] { [("sink", sink)] }

    /// Adds to a counter. If a count has decreased, the viewer's session has restarted, and the count starts at
    /// zero.
    private func count(_ label: String, _ before: Int, _ now: Int, _ others: [(String, String)] = []) {
        guard now > before || before == 0 else { return }
        Counter(label: label, dimensions: dimensions + others, factory: factory ?? MetricsSystem.factory)
            .increment(by: Int64(max(0, now - before)))
    }

    private func meter(_ label: String) -> Meter {
        Meter(label: label, dimensions: dimensions, factory: factory ?? MetricsSystem.factory)
    }
}
