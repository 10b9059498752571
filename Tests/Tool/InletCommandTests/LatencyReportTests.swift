import Foundation
import FoundationXML
import Inlet
import Testing

@testable import InletCommand

struct LatencyReportTests {
    /// Pictures at 30 a second from two seconds on, each with a given delay in milliseconds.
    private func samples(_ delays: [Double], first: UInt32 = 0, drift: Double = 0) -> [LatencySample] {
        delays.enumerated().map { index, delay in
            let drawn = MonotonicTime(nanoseconds: 2_000_000_000 + Int64(index) * 33_333_333)
            return LatencySample(
                number: first &+ UInt32(index), drawn: drawn, arrived: drawn + .nanoseconds(Int64(delay * 1_000_000)),
                timestamp: drawn + .nanoseconds(Int64(Double(index) * 33_333_333 * drift) + 5_000_000))
        }
    }

    private func report(_ samples: [LatencySample], unreadable: Int = 0) throws -> LatencyReport {
        try LatencyReport(source: "test", samples, unreadable: unreadable)
    }

    @Test("Quantiles use the nearest rank")
    func quantiles() throws {
        let delay = try report(samples((1...100).map(Double.init).shuffled())).delay
        #expect(delay == LatencyReport.Delay(p50: 50, p95: 95, p99: 99, least: 1, most: 100))
        let single = try report(samples([7])).delay
        #expect(single == LatencyReport.Delay(p50: 7, p95: 7, p99: 7, least: 7, most: 7))
    }

    @Test("Jitter is the mean step between the delays of two pictures")
    func jitter() throws {
        #expect(try report(samples([10, 12, 9, 9])).jitter == 1.667)
        #expect(try report(samples([10])).jitter == 0)
    }

    @Test("Missing and repeated numbers are counted, even across a wrap to zero", arguments: [0, 4_294_967_290])
    func losses(first: UInt32) throws {
        var all = samples([Double](repeating: 5, count: 20), first: first)
        all.insert(all[4], at: 5)
        all.remove(at: 12)
        all.remove(at: 12)
        all.swapAt(8, 9)
        let report = try report(all, unreadable: 3)
        #expect(report.pictures == 18)
        #expect(report.lost == 2)
        #expect(report.repeated == 1)
        #expect(report.unreadable == 3)
    }

    @Test(
        "A timeline that runs too fast has a drift; a constant offset is not a drift", arguments: [0, 0.0001, -0.002])
    func drift(drift: Double) throws {
        let clock = try report(samples([Double](repeating: 20, count: 300), drift: drift)).clock
        #expect(abs(clock.drift - drift * 1_000_000) < 0.1)
        // Half of the shift after ten seconds, except for one in twenty.
        #expect(abs(clock.p95 - abs(drift) * 10_000 * 0.475) < 0.05)
    }

    @Test("Without pictures, without codes, or with another clock, the error states the remedy")
    func errors() throws {
        func failure(_ samples: [LatencySample], unreadable: Int = 0) -> InletError? {
            #expect(throws: InletError.self) { _ = try report(samples, unreadable: unreadable) }
        }
        #expect(failure([])?.code == .malformedData)
        #expect(failure([], unreadable: 5)?.message.contains("in 5 pictures") == true)
        #expect(failure(samples([10, -1]))?.code == .unsupported)
        #expect(failure(samples([3_700_000]))?.code == .unsupported)
    }

    @Test("JSON has stable names")
    func json() throws {
        let object = try JSONSerialization.jsonObject(with: Data(report(samples([10, 20])).json.utf8))
        let fields = try #require(object as? [String: Any])
        #expect(
            Set(fields.keys) == [
                "source", "pictures", "lost", "repeated", "unreadable", "seconds", "delay_ms", "jitter_ms", "clock",
            ])
        #expect((fields["delay_ms"] as? [String: Double])?["p95"] == 20)
        #expect((fields["clock"] as? [String: Double])?.keys.sorted() == ["drift_ppm", "p95_ms"])
    }

    @Test("The plot is XML with a line of all delays, however many and however large", arguments: [1, 2, 100, 50_000])
    func plot(count: Int) throws {
        let samples = samples((0..<count).map { Double($0 % 977) })
        let text = LatencyPlot(try report(samples), samples).text
        #expect(XMLParser(data: Data(text.utf8)).parse())
        let points = try #require(text.split(separator: "points=\"").last?.prefix { $0 != "\"" })
        #expect((1...1500).contains(points.split(separator: " ").count))
        #expect(!text.contains("nan") && !text.contains("inf"))
    }
}
