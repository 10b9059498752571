import InletCapture
import InletCore
import InletHTTPServer

extension CameraStatus {
    /// The status as the API shows it. URIs are shown without credentials.
    var json: JSONValue {
        let sinks = settings.sinks.map { JSONValue.object([("uri", .text($0.description))]) }
        var members: [(String, JSONValue)] = [
            ("name", .text(settings.name)),
            ("source", .text(statistics?.source ?? Redaction.redact(uri: settings.source))),
            ("sinks", .list(sinks)), ("state", .text(phase.rawValue)),
            ("description", .text(statistics?.stateDescription ?? phase.rawValue)), ("healthy", .boolean(isHealthy)),
            ("paused", .boolean(isPaused)), ("onDemand", .boolean(settings.policies.closesUnwatchedAfter != nil)),
            ("stalledSinks", .list(stalledSinks.map(JSONValue.text))),
            ("failure", failure.map { .text($0.description) } ?? .null),
            // A placeholder counts as a picture.
            ("obstacle", settings.policies.outage == .nothing ? obstacle.map { .text($0) } ?? .null : .null),
        ]
        let statistics = statistics ?? CaptureStatistics()
        func sink(_ name: String) -> CaptureStatistics.Sink? {
            statistics.sinks.last { $0.name == name && $0.isAttached }
        }
        let (view, webRTC) = (sink("view"), sink("webrtc"))
        let delay = view?.deliveryLatency.value(at: 0.5) ?? webRTC?.deliveryLatency.value(at: 0.5)
        members += [
            ("captured", .number(statistics.captured)),
            ("dropped", .number(dropped)),
            ("openings", .number(statistics.supervision.openings)),
            ("stalls", .number(statistics.supervision.stalls)),
            ("frameRate", statistics.recentFrameRate.map { .number($0) } ?? .null),
            ("lastFrameAge", statistics.lastFrameAge.map { .number($0.inSeconds) } ?? .null),
            ("delay", delay.map { .number($0.inSeconds) } ?? .null),
            ("packetLoss", statistics.reception?.lossShare.map { .number($0) } ?? .null),
            ("packetLossRemedy", statistics.reception?.lossRemedy.map { .text($0.text) } ?? .null),
            ("viewers", .number((view?.sessions?.open ?? 0) + (webRTC?.sessions?.open ?? 0))),
            ("process", processJSON),
            ("priority", .text(settings.policies.priority.rawValue)),
            ("degraded", degradation.map { .object([("by", .text($0.by)), ("why", .text($0.why))]) } ?? .null),
        ]
        return .object(members)
    }

    private var processJSON: JSONValue {
        guard let process, case .own(let memoryLimit) = settings.policies.process else { return .null }
        return .object([
            ("id", process.processID.map { .number(Int($0)) } ?? .null),
            ("restarts", .number(max(0, process.starts - 1))),
            ("memoryLimit", memoryLimit.map { .number($0) } ?? .null),
        ])
    }

    /// The number of lost frames, without those that no sink wanted.
    var dropped: UInt64 {
        statistics?.drops.filter { $0.key != .notConnected && $0.key != .rateLimited }.values.reduce(0, &+) ?? 0
    }
}
