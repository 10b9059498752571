import Inlet

/// The delays of pictures over time as an SVG picture.
struct LatencyPlot {
    private static let size = (width: 800, height: 320)
    private static let (left, top, right, bottom) = (64.0, 24.0, 16.0, 40.0)
    /// The maximum number of points that are drawn; if there are more, each represents the largest of several.
    private static let mostPoints = 1500

    /// The SVG document.
    let text: String

    /// - Parameter samples: in the order of their arrival, at least one.
    init(_ report: LatencyReport, _ samples: [LatencySample]) {
        let start = samples.first?.arrived ?? MonotonicTime(nanoseconds: 0)
        let points = samples.map {
            (
                time: LatencyReport.milliseconds($0.arrived - start) / 1000,
                delay: LatencyReport.milliseconds($0.arrived - $0.drawn)
            )
        }
        let length = max(points.last?.time ?? 0, 0.001)
        let highest = Self.roundedUp(max(points.map(\.delay).max() ?? 0, 1))
        let width = Double(Self.size.width) - Self.left - Self.right
        let height = Double(Self.size.height) - Self.top - Self.bottom
        func x(_ time: Double) -> String { Self.number(Self.left + time / length * width) }
        func y(_ delay: Double) -> String { Self.number(Self.top + height - delay / highest * height) }

        let share = (points.count + Self.mostPoints - 1) / Self.mostPoints
        let drawn = stride(from: 0, to: points.count, by: max(1, share)).compactMap { first in
            points[first..<min(points.count, first + max(1, share))].max { $0.delay < $1.delay }
        }
        let line = drawn.map { "\(x($0.time)),\(y($0.delay))" }.joined(separator: " ")
        let (first, last) = (x(0), x(length))
        var rows: [String] = []
        for step in 0...4 {
            let value = highest * Double(step) / 4
            rows.append(#"<path d="M\#(first) \#(y(value))H\#(last)" stroke="silver"/>"#)
            rows.append(
                #"<text x="\#(Self.number(Self.left - 8))" y="\#(y(value))" dy="4" text-anchor="end">\#(Self.number(value))</text>"#
            )
        }
        for (name, value, offset) in [("p50", report.delay.p50, 14), ("p99", report.delay.p99, -4)] {
            rows.append(#"<path d="M\#(first) \#(y(value))H\#(last)" stroke="orangered" stroke-dasharray="6 4"/>"#)
            rows.append(
                #"<text x="\#(last)" y="\#(y(value))" dy="\#(offset)" text-anchor="end" fill="orangered">\#(name)</text>"#
            )
        }
        let summary = "p50 \(Self.number(report.delay.p50)) ms, p99 \(Self.number(report.delay.p99)) ms"
        text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.size.width)" height="\(Self.size.height)" \
            viewBox="0 0 \(Self.size.width) \(Self.size.height)" role="img" font-family="sans-serif" font-size="12">
            <title>Delay of \(report.pictures) pictures: \(summary)</title>
            <rect width="100%" height="100%" fill="white"/>
            <text x="\(Self.number(Self.left))" y="14">Delay in ms; \(summary)</text>
            <text x="\(last)" y="\(Self.size.height - 10)" text-anchor="end">\(Self.number(length)) s</text>
            <text x="\(first)" y="\(Self.size.height - 10)">0 s</text>
            \(rows.joined(separator: "\n"))
            <polyline points="\(line)" fill="none" stroke="steelblue" stroke-width="2"/>
            </svg>

            """
    }

    private static func number(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    /// The next of 1, 2, 4 or 10 times a power of ten.
    private static func roundedUp(_ value: Double) -> Double {
        var power = 1.0
        while power * 10 < value { power *= 10 }
        return [1, 2, 4, 10].map { $0 * power }.first { $0 >= value } ?? value
    }
}
