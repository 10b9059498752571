import Inlet
import Testing

@testable import InletCommand

@Suite struct StatusFieldsTests {
    private static let fields = {
        var fields = StatusFields()
        fields.append("live", .state)
        fields.append("252 frames", .detail)
        fields.append("in 30 fps", .rate)
        fields.append("out 30 fps", .detail)
        fields.append("dropped 0", .rate)
        fields.append("latency p50 0.2 p99 0.9 ms", .extra)
        return fields
    }()

    @Test(
        "The least important fields are left out until the line fits",
        arguments: [
            (200, "live  252 frames  in 30 fps  out 30 fps  dropped 0  latency p50 0.2 p99 0.9 ms"),
            (78, "live  252 frames  in 30 fps  out 30 fps  dropped 0  latency p50 0.2 p99 0.9 ms"),
            (77, "live  252 frames  in 30 fps  out 30 fps  dropped 0"), (49, "live  252 frames  in 30 fps  dropped 0"),
            (30, "live  in 30 fps  dropped 0"), (20, "live  in 30 fps"), (6, "live"), (3, "..."), (0, "..."),
        ])
    func width(width: Int, line: String) {
        #expect(Self.fields.text(width: width) == line)
    }

    @Test("The cause of an outage stays in the line, and is cut at its end")
    func trouble() {
        var fields = StatusFields()
        fields.append("waiting 3.0 s before attempt 2", .state)
        fields.append("The camera rejected the password of müller.", .trouble)
        fields.append("0 frames", .detail)
        #expect(fields.text(width: 80) == "waiting 3.0 s before attempt 2  The camera rejected the password of müller.")
        #expect(fields.text(width: 70) == "waiting 3.0 s before attempt 2  The camera rejected the password of...")
    }

    @Test("A wait counts down, and not below zero")
    func countdown() {
        let state = CapturerState.waiting(attempt: 2, delay: .seconds(10))
        #expect(StatusLine.text(of: state, for: .seconds(3)) == "waiting 7.0 s before attempt 2")
        #expect(StatusLine.text(of: state, for: .seconds(11)) == "waiting 0.0 s before attempt 2")
        #expect(StatusLine.text(of: .live, for: .seconds(3)) == "live")
    }

    @Test("Frames without a viewer are not shown as dropped")
    func viewers() {
        var statistics = CaptureStatistics()
        statistics.sourceDrops = [.notConnected: 20]
        var fields = StatusFields()
        fields.append(statistics, before: statistics, over: .seconds(1))
        #expect(fields.text(width: 200).contains("dropped 0"))
        statistics.sourceDrops = [.notConnected: 20, .late: 1]
        fields = StatusFields()
        fields.append(statistics, before: statistics, over: .seconds(1))
        #expect(fields.text(width: 200).contains("dropped 1 late"))
    }

    @Test(
        "Latencies are in milliseconds with at most two decimals",
        arguments: [
            (41.0, "0.04"), (147.5, "0.15"), (1000, "1"), (1500, "1.5"), (9994, "9.99"), (28_414.6, "28.4"), (0, "0"),
        ])
    func milliseconds(microseconds: Double, text: String) {
        #expect(microseconds.millisecondsText == text)
    }
}
