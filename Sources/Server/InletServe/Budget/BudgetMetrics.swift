import InletCore
import InletHTTPServer

/// Metrics of processor use in Prometheus's text format.
enum BudgetMetrics {
    /// Returns the cameras' processor use and their degradation.
    static func text(of statuses: [CameraStatus]) -> String {
        func samples<Value: Sendable>(
            _ value: (CameraStatus) -> Value
        ) -> [(labels: [(String, String)], value: any Sendable)] {
            statuses.map { ([("camera", $0.settings.name)], value($0)) }
        }
        return PrometheusText.text(of: [
            .init(
                name: "inlet_camera_processor_seconds_total", type: "counter",
                help: "Processor time of the camera's threads and its own processes.",
                samples: samples(\.processorTime.inSeconds)),
            .init(
                name: "inlet_camera_degraded", type: "gauge",
                help: "Steps by which the camera is reduced because the budget of cores is exceeded.",
                samples: samples { $0.degradation?.level ?? 0 }),
        ])
    }

    /// Returns the total use, if there is a budget.
    static func text(of use: CameraSet.ProcessorUse) -> String {
        let figures = [
            ("inlet_budget_cores", "Cores that all cameras may use.", use.limit),
            ("inlet_budget_used_cores", "Cores that the daemon and its cameras' own processes use.", use.used),
        ]
        return PrometheusText.text(
            of: figures.compactMap { name, help, value in
                value.map { PrometheusText.Family(name: name, type: "gauge", help: help, samples: [([], $0)]) }
            })
    }
}
