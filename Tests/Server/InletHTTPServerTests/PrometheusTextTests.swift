import InletCore
import InletHTTPServer
import Testing

@Suite struct PrometheusTextTests {
    private func sink(_ number: Int, _ name: String, delivered: UInt64) -> CaptureStatistics.Sink {
        var sink = CaptureStatistics.Sink(id: SinkID(number: number), name: name)
        sink.delivered = delivered
        sink.drops = [.queueFull: delivered]
        return sink
    }

    @Test("The sinks of one name are one series, including those that ended long ago")
    func names() {
        var statistics = CaptureStatistics()
        statistics.source = "pattern:"
        statistics.earlierSinks = [sink(1, "webrtc", delivered: 5), sink(2, "gone", delivered: 7)]
        statistics.sinks = [sink(3, "webrtc", delivered: 3), sink(4, "webrtc", delivered: 1)]
        #expect(statistics.delivered == 16 && statistics.drops == [.queueFull: 16])
        let lines = PrometheusText.text(of: statistics).split(separator: "\n")
            .filter { $0.hasPrefix("inlet_sink_frames") }
        #expect(
            lines == [
                #"inlet_sink_frames_delivered_total{source="pattern:",sink="webrtc"} 9"#,
                #"inlet_sink_frames_delivered_total{source="pattern:",sink="gone"} 7"#,
                #"inlet_sink_frames_dropped_total{source="pattern:",sink="webrtc",reason="queueFull"} 9"#,
                #"inlet_sink_frames_dropped_total{source="pattern:",sink="gone",reason="queueFull"} 7"#,
            ])
    }
}
