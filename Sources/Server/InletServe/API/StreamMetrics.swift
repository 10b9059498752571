import InletHTTPServer

/// Metrics of streams and recordings in Prometheus's text format.
enum StreamMetrics {
    /// Returns the number of streams and its limit.
    static func text(of streams: StreamCount) -> String {
        PrometheusText.text(of: [
            .init(
                name: "inlet_streams_open", type: "gauge", help: "Open streams to clients.",
                samples: StreamCount.Kind.allCases.map { ([("kind", $0.rawValue)], streams.open($0)) }),
            .init(
                name: "inlet_streams_most", type: "gauge", help: "The limit on open streams.",
                samples: [([], streams.most)]),
        ])
    }

    /// Returns the cameras that are being recorded on request, and the number of their stalled sinks.
    static func text(of statuses: [CameraStatus]) -> String {
        PrometheusText.text(of: [
            .init(
                name: "inlet_camera_recording", type: "gauge", help: "1 while the camera is recorded on request.",
                samples: statuses.map { ([("camera", $0.settings.name)], $0.isRecording ? 1 : 0) }),
            .init(
                name: "inlet_camera_sinks_stalled", type: "gauge", help: "Sinks that accept no data.",
                samples: statuses.map { ([("camera", $0.settings.name)], $0.stalledSinks.count) }),
        ])
    }
}
