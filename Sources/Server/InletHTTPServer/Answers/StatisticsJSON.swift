import FoundationEssentials
package import InletCore

/// The statistics in `/stats.json`. Times are in seconds.
package enum StatisticsJSON {
    /// Returns the statistics as a JSON object.
    package static func text(of statistics: CaptureStatistics) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(Report(statistics))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private struct Report: Encodable {
        var source, state, stateDescription: String
        var captured, converted, openings, stalls: UInt64
        var frameRate, lastFrameAge: Double?
        var sourceDrops, failures: [String: UInt64]
        var lastFailure: String?
        var reception: Reception?
        var outage: Double
        var captureLatency: Stage
        var sinks, earlierSinks: [Sink]

        init(_ statistics: CaptureStatistics) {
            (source, state) = (statistics.source, statistics.phase?.rawValue ?? "")
            stateDescription = statistics.stateDescription
            (captured, converted) = (statistics.captured, statistics.converted)
            frameRate = statistics.recentFrameRate
            lastFrameAge = statistics.lastFrameAge?.inSeconds
            sourceDrops = named(statistics.sourceDrops)
            reception = statistics.reception.map(Reception.init)
            captureLatency = Stage(statistics.captureLatency)
            (sinks, earlierSinks) = (statistics.sinks.map(Sink.init), statistics.earlierSinks.map(Sink.init))
            let supervision = statistics.supervision
            (openings, stalls) = (supervision.openings, supervision.stalls)
            failures = Dictionary(uniqueKeysWithValues: supervision.failures.map { ("\($0.key)", $0.value) })
            lastFailure = supervision.lastFailure?.description
            outage = supervision.outage.inSeconds
        }
    }

    private struct Reception: Encodable {
        var packets, packetsLost, packetsDuplicated, packetsReordered, packetsRecovered, packetsLate: UInt64
        var jitter: Double
        var keyFrameRequests, keyFrameResponses: UInt64
        var keyFrameResponseTime: Double
        var lossRemedy: String?

        init(_ figures: ReceptionFigures) {
            (packets, packetsLost, packetsLate) = (figures.packets, figures.packetsLost, figures.packetsLate)
            (packetsDuplicated, packetsReordered) = (figures.packetsDuplicated, figures.packetsReordered)
            packetsRecovered = figures.packetsRecovered
            jitter = figures.jitter.inSeconds
            (keyFrameRequests, keyFrameResponses) = (figures.keyFrameRequests, figures.keyFrameResponses)
            keyFrameResponseTime = figures.keyFrameResponseTime.inSeconds
            lossRemedy = figures.lossRemedy?.text
        }
    }

    private struct Sink: Encodable {
        var id, name: String
        var isAttached: Bool
        var delivered: UInt64
        var drops: [String: UInt64]
        var queue, conversion, delivery, consume: Stage

        init(_ sink: CaptureStatistics.Sink) {
            (id, name, isAttached, delivered) = (sink.id.description, sink.name, sink.isAttached, sink.delivered)
            drops = named(sink.drops)
            (queue, conversion) = (Stage(sink.queueLatency), Stage(sink.conversionTime))
            (delivery, consume) = (Stage(sink.deliveryLatency), Stage(sink.consumeTime))
        }
    }

    private struct Stage: Encodable {
        var count: UInt64
        var total, maximum: Double
        var median, percentile99: Double?

        init(_ stage: LatencyDistribution) {
            (count, total, maximum) = (stage.count, stage.total.inSeconds, stage.maximum.inSeconds)
            (median, percentile99) = (stage.value(at: 0.5)?.inSeconds, stage.value(at: 0.99)?.inSeconds)
        }
    }

    private static func named(_ drops: [DropReason: UInt64]) -> [String: UInt64] {
        Dictionary(uniqueKeysWithValues: drops.map { ("\($0.key)", $0.value) })
    }
}

extension Duration {
    /// The duration in seconds, for users and monitoring.
    package var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
