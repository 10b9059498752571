import ArgumentParser
import FoundationEssentials
import Inlet

/// The report of a run, for people and for machines.
struct RunReport: Encodable {
    var frames: Frames
    var latency: [String: Latency]
    var fps: Double
    var cpuSeconds: Double
    var peakResidentKiB: Int
    var ended: String
    var error: Failure?
    var reception: Reception?
    /// How often the source switched to a new version of its plug-in; nil if never.
    var pluginUpdates: UInt64?
    /// By the name of each sink that has sessions; nil if none has.
    var sessions: [String: Sessions]?

    enum CodingKeys: String, CodingKey {
        case frames, fps, ended, error, reception, sessions
        case latency = "latency_us"
        case cpuSeconds = "cpu_s"
        case pluginUpdates = "plugin_updates"
        case peakResidentKiB = "peak_rss_kib"
    }

    struct Frames: Encodable {
        var captured: UInt64
        var converted: UInt64
        var delivered: Delivered
        var dropped: [String: UInt64]
    }

    /// The statistics of reception by RTP. Times are in milliseconds.
    struct Reception: Encodable {
        var packets, lost, duplicated, reordered, recovered, late: UInt64
        var jitter: Double
        var keyFrameRequests, keyFrameResponses: UInt64
        var keyFrameResponse: Double?

        enum CodingKeys: String, CodingKey {
            case packets, lost, duplicated, reordered, recovered, late
            case jitter = "jitter_ms"
            case keyFrameRequests = "key_frame_requests"
            case keyFrameResponses = "key_frame_responses"
            case keyFrameResponse = "key_frame_response_ms"
        }

        init(_ figures: ReceptionFigures) {
            (packets, lost, duplicated) = (figures.packets, figures.packetsLost, figures.packetsDuplicated)
            (reordered, recovered) = (figures.packetsReordered, figures.packetsRecovered)
            late = figures.packetsLate
            jitter = Double(figures.jitter.wholeNanoseconds) / 1e6
            (keyFrameRequests, keyFrameResponses) = (figures.keyFrameRequests, figures.keyFrameResponses)
            let time = Double(figures.keyFrameResponseTime.wholeNanoseconds) / 1e6
            keyFrameResponse = keyFrameResponses > 0 ? time / Double(keyFrameResponses) : nil
        }
    }

    /// The sessions of a sink: the number open at the end, the total number, and the error of the last attempt.
    struct Sessions: Encodable {
        var open: Int
        var opened: UInt64
        var failure: String?
    }

    /// A number, or a number for each sink by name if there are several.
    enum Delivered: Encodable {
        case one(UInt64)
        case several([String: UInt64])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .one(let count): try container.encode(count)
            case .several(let counts): try container.encode(counts)
            }
        }
    }

    /// Latencies in microseconds.
    struct Latency: Encodable {
        var p50: Double
        var p99: Double
        var max: Double
    }

    struct Failure: Encodable {
        var code: String
        var message: String
    }

    init(_ statistics: CaptureStatistics, reason: EndReason?, error: InletError?) {
        var names: [String: UInt64] = [:]
        for sink in statistics.allSinks {
            let name = names[sink.name] == nil ? sink.name : "\(sink.name) (\(sink.id))"
            names[name] = sink.delivered
            guard let found = sink.sessions else { continue }
            sessions = sessions ?? [:]
            sessions?[name] = Sessions(open: found.open, opened: found.opened, failure: found.failure)
        }
        frames = Frames(
            captured: statistics.captured, converted: statistics.converted,
            delivered: statistics.allSinks.count == 1 ? .one(statistics.delivered) : .several(names),
            dropped: Dictionary(uniqueKeysWithValues: statistics.drops.map { ($0.description, $1) }))
        latency = [:]
        let stages: [(String, KeyPath<CaptureStatistics.Sink, LatencyDistribution>)] = [
            ("queue", \.queueLatency), ("convert", \.conversionTime), ("deliver", \.deliveryLatency),
            ("consume", \.consumeTime),
        ]
        for (name, stage) in stages { latency[name] = Latency(statistics.allSinks.map { $0[keyPath: stage] }) }
        reception = statistics.reception.map(Reception.init)
        let updates = statistics.supervision.updates
        pluginUpdates = updates > 0 ? updates : nil
        fps = statistics.frameRate ?? 0
        (cpuSeconds, peakResidentKiB) = Terminal.resourceUsage
        // A sink that needs no more frames, such as a pipe whose reader has closed, ends a run as a stop does.
        ended = error != nil ? "failed" : (reason == .noSinks ? .cancelled : reason ?? .cancelled).rawValue
        self.error = error.map { Failure(code: $0.code.description, message: $0.description) }
    }

    /// The report as one line of JSON.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// The reason why the run ended, for people.
    private var endInWords: String {
        switch EndReason(rawValue: ended) {
        case .endOfStream: "end of stream"
        case .frameLimit: "frame limit reached"
        case .durationLimit: "duration limit reached"
        case .cancelled, .noSinks: "stopped"
        case nil: ended
        }
    }

    /// The report as several lines for a person.
    var text: String {
        var delivered = ""
        switch frames.delivered {
        case .one(let count): delivered = "\(count)"
        case .several(let counts):
            delivered = counts.sorted { $0.key < $1.key }.map { "\($0.value) to \($0.key)" }.joined(separator: ", ")
        }
        var lines = [
            "\(endInWords): captured \(frames.captured), converted \(frames.converted), delivered \(delivered)"
        ]
        if !frames.dropped.isEmpty {
            lines.append(
                "dropped: "
                    + frames.dropped.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
        }
        if let reception {
            var line = "packets: \(reception.packets) received, \(reception.lost) lost, \(reception.late) late, "
            line += "\(reception.duplicated) duplicated, \(reception.reordered) reordered"
            line += "; jitter \(reception.jitter.shortText) ms"
            if reception.keyFrameRequests > 0 {
                line += "; \(reception.keyFrameResponses) key frames for \(reception.keyFrameRequests) requests"
            }
            lines.append(line)
        }
        if let pluginUpdates { lines.append("plug-in: updated \(pluginUpdates.times)") }
        for (name, found) in (sessions ?? [:]).sorted(by: { $0.key < $1.key }) {
            let failure = found.failure.map { "; the last attempt failed: \($0)" } ?? ""
            lines.append("sessions of \(name): \(found.opened) opened\(failure)")
        }
        if let latency = latency["deliver"] {
            let (median, slow) = (latency.p50.millisecondsText, latency.p99.millisecondsText)
            lines.append("latency: p50 \(median) ms, p99 \(slow) ms; \(fps.shortText) fps")
        }
        lines.append("cpu \(cpuSeconds.shortText) s, peak memory \(peakResidentKiB / 1024) MiB")
        if let error { lines.append("error: \(error.message)") }
        return lines.joined(separator: "\n")
    }
}

extension RunReport.Latency {
    /// Calculates percentiles over the distributions of several sinks; nil if nothing was counted.
    init?(_ distributions: [LatencyDistribution]) {
        let all = distributions.reduce(LatencyDistribution(), +)
        guard let median = all.value(at: 0.5), let slow = all.value(at: 0.99) else { return nil }
        p50 = Double(median.wholeNanoseconds) / 1000
        p99 = Double(slow.wholeNanoseconds) / 1000
        max = Double(all.maximum.wholeNanoseconds) / 1000
    }
}

extension Double {
    /// The number rounded to a tenth, without trailing zeros.
    var shortText: String {
        let tenths = (self * 10).rounded() / 10
        return tenths == tenths.rounded() && abs(tenths) < 1e15 ? "\(Int64(tenths))" : "\(tenths)"
    }

    /// A number of microseconds in milliseconds: below 10 ms rounded to a hundredth, otherwise to a tenth.
    var millisecondsText: String {
        let hundredths = (self / 10).rounded()
        guard hundredths < 1000, hundredths != (hundredths / 10).rounded() * 10 else { return (self / 1000).shortText }
        return "\(hundredths / 100)"
    }
}

/// The format of the report.
enum ReportStyle: String, ExpressibleByArgument, CaseIterable {
    case json, text, none

    func write(_ report: RunReport) {
        switch self {
        case .json: Terminal.writeError(((try? report.json) ?? "{}") + "\n")
        case .text:
            Terminal.writeError(report.text + "\n" + (report.error.map { ErrorExplanation.hint(for: $0.code) } ?? ""))
        case .none:
            if let error = report.error { Terminal.writeError("error: \(error.message)\n") }
        }
    }
}
