import FoundationEssentials
import InletCore

/// The report as `/stats.json` has it. Times are in seconds.
enum StatisticsJSON {
    static func text(of report: CaptureReport) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(Report(report))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private struct Report: Encodable {
        var source, state, stateDescription: String
        var captured, converted, openings, stalls: UInt64
        var frameRate, lastFrameAge: Double?
        var sourceDrops, failures: [String: UInt64]
        var lastFailure: String?
        var outage: Double
        var captureLatency: Stage
        var sinks: [Sink]

        init(_ report: CaptureReport) {
            (source, state, stateDescription) = (report.source, report.state?.rawValue ?? "", report.stateDescription)
            (captured, converted) = (report.captured, report.converted)
            (openings, stalls) = (report.openings, report.stalls)
            frameRate = report.frameRate
            lastFrameAge = report.lastFrameAge?.inSeconds
            sourceDrops = named(report.sourceDrops)
            failures = Dictionary(uniqueKeysWithValues: report.failures.map { ("\($0.key)", $0.value) })
            lastFailure = report.lastFailure
            outage = report.outage.inSeconds
            captureLatency = Stage(report.captureLatency)
            sinks = report.sinks.map(Sink.init)
        }
    }

    private struct Sink: Encodable {
        var id, name: String
        var isAttached: Bool
        var delivered: UInt64
        var drops: [String: UInt64]
        var queue, conversion, delivery, consume: Stage

        init(_ sink: CaptureReport.SinkReport) {
            (id, name, isAttached, delivered) = (sink.id, sink.name, sink.isAttached, sink.delivered)
            drops = named(sink.drops)
            (queue, conversion) = (Stage(sink.queue), Stage(sink.conversion))
            (delivery, consume) = (Stage(sink.delivery), Stage(sink.consume))
        }
    }

    private struct Stage: Encodable {
        var count: UInt64
        var total, maximum: Double
        var median, percentile99: Double?

        init(_ stage: CaptureReport.StageReport) {
            (count, total, maximum) = (stage.count, stage.total.inSeconds, stage.maximum.inSeconds)
            (median, percentile99) = (stage.median?.inSeconds, stage.percentile99?.inSeconds)
        }
    }

    private static func named(_ drops: [DropReason: UInt64]) -> [String: UInt64] {
        Dictionary(uniqueKeysWithValues: drops.map { ("\($0.key)", $0.value) })
    }
}

extension Duration {
    /// For people and monitoring.
    var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
