package import InletCore

/// The statistics in Prometheus's text format, version 0.0.4, with the names of `Docs/reference/metrics.md`.
package struct PrometheusText {
    /// The statistics of a capture, and the labels that distinguish it from others.
    private struct Entry {
        var labels: Labels
        var statistics: CaptureStatistics
    }

    private var text = ""

    /// Returns the statistics of one capture.
    package static func text(of statistics: CaptureStatistics) -> String { text(of: [([], statistics)]) }

    /// Returns the statistics of several captures. Each family of metrics is in one place, as the format requires.
    ///
    /// - Parameter captures: the statistics, each with labels in addition to that of its source.
    package static func text(of captures: [(labels: [(String, String)], statistics: CaptureStatistics)]) -> String {
        var writer = PrometheusText()
        writer.write(
            captures.map { Entry(labels: $0.labels + [("source", $0.statistics.source)], statistics: $0.statistics) })
        return writer.text
    }

    /// A metric and its numeric values by label.
    package struct Family {
        var name, type, help: String
        var samples: [(labels: [(String, String)], value: any Sendable)]

        package init(
            name: String, type: String, help: String, samples: [(labels: [(String, String)], value: any Sendable)]
        ) {
            (self.name, self.type, self.help, self.samples) = (name, type, help, samples)
        }
    }

    /// Returns metrics that do not belong to captures.
    package static func text(of families: [Family]) -> String {
        var writer = PrometheusText()
        for family in families {
            writer.family(family.name, family.type, family.help, family.samples.map { ($0.labels, $0.value) })
        }
        return writer.text
    }

    private mutating func writeReception(_ entries: [Entry]) {
        let received = entries.compactMap { entry in entry.statistics.reception.map { (entry.labels, $0) } }
        let counters: [(String, String, KeyPath<ReceptionFigures, UInt64>)] = [
            ("packets_received", "RTP packets received.", \.packets),
            ("packets_lost", "RTP packets that never came, or came too late.", \.packetsLost),
            ("packets_duplicated", "Duplicate RTP packets.", \.packetsDuplicated),
            ("packets_reordered", "RTP packets out of order, in time to be used.", \.packetsReordered),
            ("packets_recovered", "Lost RTP packets that were sent again in time.", \.packetsRecovered),
            ("packets_late", "RTP packets that came too late.", \.packetsLate),
            ("key_frame_requests", "Key-frame requests sent, by RTCP or ONVIF.", \.keyFrameRequests),
            ("key_frame_responses", "Key frames that came soon after a request.", \.keyFrameResponses),
        ]
        for (name, help, value) in counters {
            family(
                "inlet_source_\(name)_total", "counter", help, received.map { ($0.0, $0.1[keyPath: value]) })
        }
        family(
            "inlet_source_jitter_seconds", "gauge", "The interarrival jitter of RTP packets.",
            received.map { ($0.0, $0.1.jitter.inSeconds) })
        family(
            "inlet_source_key_frame_response_seconds", "gauge", "The mean time from a request to its key frame.",
            received.filter { $0.1.keyFrameResponses > 0 }.map {
                ($0.0, $0.1.keyFrameResponseTime.inSeconds / Double($0.1.keyFrameResponses))
            })
    }

    private mutating func write(_ entries: [Entry]) {
        func each<Value>(_ value: (CaptureStatistics) -> Value) -> [(Labels, Value)] {
            entries.map { ($0.labels, value($0.statistics)) }
        }
        family("inlet_frames_captured_total", "counter", "Frames that the source yielded.", each(\.captured))
        family("inlet_frames_converted_total", "counter", "Frames that became I420.", each(\.converted))
        family(
            "inlet_source_frames_dropped_total", "counter", "Frames lost before any sink.",
            entries.flatMap { counts($0.statistics.sourceDrops, as: "reason", $0.labels) })
        writeReception(entries)
        family(
            "inlet_source_openings_total", "counter", "How often the source was opened.",
            each(\.supervision.openings))
        family(
            "inlet_source_stalls_total", "counter", "How often frames stopped coming.", each(\.supervision.stalls))
        family(
            "inlet_source_failures_total", "counter", "How often the source failed.",
            entries.flatMap { counts($0.statistics.supervision.failures, as: "code", $0.labels) })
        family(
            "inlet_source_placeholders_total", "counter", "Placeholders shown in outages.",
            each(\.supervision.placeholders))
        family(
            "inlet_source_plugin_updates_total", "counter",
            "How often the source switched to a new version of its plug-in.", each(\.supervision.updates))
        family(
            "inlet_source_abandoned_threads", "gauge",
            "Threads of sources that ignored their cancellation and still run.", each(\.supervision.abandonedThreads))
        family(
            "inlet_frame_rate", "gauge", "Recent frames a second.",
            entries.compactMap { entry in entry.statistics.recentFrameRate.map { (entry.labels, $0) } })
        family(
            "inlet_last_frame_age_seconds", "gauge", "How long ago the newest frame arrived.",
            entries.compactMap { entry in entry.statistics.lastFrameAge.map { (entry.labels, $0.inSeconds) } })
        family(
            "inlet_capturer_state", "gauge", "1 for the state that the capture is in.",
            entries.compactMap { entry in
                entry.statistics.phase.map { (entry.labels + [("state", $0.rawValue)], 1) }
            })
        summary("inlet_capture_latency_seconds", "From capture to arrival.", each(\.captureLatency))
        family(
            "inlet_sinks_attached", "gauge", "Sinks that take frames now.",
            each { $0.sinks.count(where: \.isAttached) })
        writeSinks(entries)
    }

    /// Returns a capture's sinks by name, in the order in which each name first appears. Sinks of the same name are
    /// combined, so attaching a sink repeatedly does not add further series.
    private static func byName(_ sinks: [CaptureStatistics.Sink]) -> [CaptureStatistics.Sink] {
        var places: [String: Int] = [:]
        var result: [CaptureStatistics.Sink] = []
        for var sink in sinks {
            sink.name = sink.name.sanitized(limit: longestName)
            // A sink that has ended has no sessions.
            if !sink.isAttached {
                sink.sessions?.open = 0
                sink.sessions?.pending = 0
            }
            guard let place = places[sink.name] else {
                places[sink.name] = result.count
                result.append(sink)
                continue
            }
            result[place].add(sink)
        }
        return result
    }

    private static let longestName = 256

    private mutating func writeSinks(_ entries: [Entry]) {
        let sinks = entries.flatMap { entry in
            Self.byName(entry.statistics.allSinks).map { (entry.labels + [("sink", $0.name)], $0) }
        }
        family(
            "inlet_sink_frames_delivered_total", "counter", "Frames that a sink took.",
            sinks.map { ($0.0, $0.1.delivered) })
        family(
            "inlet_sink_frames_dropped_total", "counter", "Frames that a sink did not get.",
            sinks.flatMap { counts($0.1.drops, as: "reason", $0.0) })
        let sessions = sinks.compactMap { labels, sink in sink.sessions.map { (labels, $0) } }
        family(
            "inlet_sink_sessions", "gauge", "Sessions over which frames can go now.",
            sessions.map { ($0.0, $0.1.open) })
        family(
            "inlet_sink_sessions_pending", "gauge", "Sessions that are being established.",
            sessions.map { ($0.0, $0.1.pending) })
        family(
            "inlet_sink_sessions_opened_total", "counter", "Sessions that were opened, including reopened ones.",
            sessions.map { ($0.0, $0.1.opened) })
        summary(
            "inlet_sink_queue_latency_seconds", "From arrival to the sink's turn.",
            sinks.map { ($0.0, $0.1.queueLatency) })
        summary(
            "inlet_sink_conversion_time_seconds", "Conversion and scaling.", sinks.map { ($0.0, $0.1.conversionTime) })
        summary(
            "inlet_sink_delivery_latency_seconds", "From arrival to the hand-over.",
            sinks.map { ($0.0, $0.1.deliveryLatency) })
        summary(
            "inlet_sink_consume_time_seconds", "The sink's time for a frame.", sinks.map { ($0.0, $0.1.consumeTime) }
        )
    }

    private typealias Labels = [(String, String)]

    private mutating func family(_ name: String, _ type: String, _ help: String, _ samples: [(Labels, some Any)]) {
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        for (labels, value) in samples { line(name, labels, "\(value)") }
    }

    private mutating func summary(_ name: String, _ help: String, _ samples: [(Labels, LatencyDistribution)]) {
        let samples = samples.filter { $0.1.count > 0 }
        guard !samples.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) summary\n"
        for (labels, stage) in samples {
            for (quantile, value) in [("0.5", stage.value(at: 0.5)), ("0.99", stage.value(at: 0.99))] {
                if let value { line(name, labels + [("quantile", quantile)], "\(value.inSeconds)") }
            }
            line(name + "_sum", labels, "\(stage.total.inSeconds)")
            line(name + "_count", labels, "\(stage.count)")
        }
    }

    private mutating func line(_ name: String, _ labels: Labels, _ value: String) {
        let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        text += "\(name){\(list)} \(value)\n"
    }

    private func counts(_ numbers: [some Hashable: UInt64], as label: String, _ labels: Labels) -> [(Labels, UInt64)] {
        numbers.map { (name: "\($0.key)", count: $0.value) }.sorted { $0.name < $1.name }
            .map { (labels + [(label, $0.name)], $0.count) }
    }

    /// Works on Unicode scalars, because a combining mark would hide a character that must be escaped.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n", "\r": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
