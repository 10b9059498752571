#if GStreamer
import CoreMetrics
import InletCore
import InletRTC
import MetricsTestKit
import ReferenceTools
import Testing

@testable import WebRTCSink

@Suite struct WebRTCMetricsTests {
    private let metrics = TestMetrics()
    private let sink = [("sink", "webrtc")]

    static func viewer(_ name: String, sent: Int, lost: Int = 0) -> ViewerStatistics {
        ViewerStatistics(
            viewer: name, state: .connected, codec: .h264, tier: 1, bitrate: 1_000_000,
            roundTrip: .milliseconds(20),
            packetsLost: lost, keyFrameRequests: 1, framesSent: sent, framesDropped: 0, messagesReceived: 0,
            messagesSent: 0, messagesDropped: 0)
    }

    private func total(_ label: String, _ others: [(String, String)] = []) throws -> Int64 {
        try metrics.expectCounter(label, sink + others).values.reduce(0, +)
    }

    @Test("Counters continue after viewers leave, and no metric contains a viewer's name")
    func totals() throws {
        let reporter = WebRTCMetrics(WebRTCBroadcast(), factory: metrics)
        var totals = BroadcastTotals()
        totals.add(.joined("a"))
        totals.add(.joined("b"))
        reporter.publish(totals, [Self.viewer("a", sent: 10), Self.viewer("b", sent: 20, lost: 3)])
        totals.add(.left(Self.viewer("b", sent: 25, lost: 4), .remote))
        reporter.publish(totals, [Self.viewer("a", sent: 40)])
        #expect(try total("inlet_webrtc_frames_sent_total") == 65)
        #expect(try total("inlet_webrtc_packets_lost_total") == 4)
        #expect(try total("inlet_webrtc_viewers_joined_total") == 2)
        #expect(try total("inlet_webrtc_sessions_ended_total", [("reason", "remote")]) == 1)
        #expect(try metrics.expectMeter("inlet_webrtc_viewers", sink).lastValue == 1)
        #expect(
            try metrics.expectTimer("inlet_webrtc_round_trip_seconds", sink).values == [
                20_000_000, 20_000_000, 20_000_000,
            ])
    }

    @Test("/stats.json is valid, and does not reveal the name by which a session is ended")
    func json() {
        let name = "0123456789abcdef0123456789abcdef"
        let text = ViewersJSON.text(of: [Self.viewer(name, sent: 7)])
        #expect(
            text == """
                {"viewers":[{"bitrate":1000000,"codec":"h264","dropped":0,"keyFrameRequests":1,"lost":0,\
                "messages":{"dropped":0,"received":0,"sent":0},"roundTrip":0.02,"sent":7,"state":"connected",\
                "tier":1,"viewer":"01234567"}]}
                """)
        #expect(ViewersJSON.text(of: []) == #"{"viewers":[]}"#)
    }
}
#endif
