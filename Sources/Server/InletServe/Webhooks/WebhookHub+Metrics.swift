import InletHTTPServer

extension WebhookHub {
    /// The figures of all webhooks in Prometheus's text format.
    var metrics: String {
        let all = figures
        func family(
            _ name: String, _ type: String, _ help: String, _ value: (WebhookFigures) -> UInt64
        ) -> PrometheusText.Family {
            .init(
                name: "inlet_webhook_\(name)", type: type, help: help,
                samples: all.map { ([("webhook", $0.name)], value($0.figures)) })
        }
        return PrometheusText.text(of: [
            family("events_delivered_total", "counter", "Events that the server accepted.") { $0.delivered },
            family("events_failed_total", "counter", "Events that were given up.") { $0.failed },
            family("events_dropped_total", "counter", "Events dropped because too many were waiting.") { $0.dropped },
            family("retries_total", "counter", "Repeated requests.") { $0.retries },
            family("events_waiting", "gauge", "Waiting events.") { UInt64($0.waiting) },
        ])
    }
}
