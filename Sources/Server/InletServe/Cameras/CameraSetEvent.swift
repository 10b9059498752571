import InletCapture
import InletCore

/// An event of a camera, or of the whole ``CameraSet``.
package struct CameraSetEvent: Sendable {
    /// The name of the camera; nil if the event concerns all cameras.
    package var camera: String?
    /// The kind of event as one word for programs, such as `state` or `reopened`.
    package var kind: String
    /// A description for people: a sentence or a word. It contains no secret.
    package var text: String

    /// All kinds of events.
    package static let kinds =
        [
            "state", "opened", "failed", "abandoned", "recovered", "lagging", "decoder-failed", "transport-changed",
            "sink-ended", "sink-failed", "sink-stalled", "sink-recovered",
            "recording-started", "recording-ended", "recording-failed", "recording-note-failed", "added", "removed",
            "reopened", "adjusted", "degraded", "restored",
            "changes-damaged", "changes-failed", "configuration-stale", "audit-failed", "certificate-read",
            "certificate-failed",
        ] + SourceDetection.Kind.allCases.map(\.rawValue)

    /// - Parameter kind: one of ``kinds``.
    package init(_ kind: String, _ text: String, camera: String?) {
        assert(Self.kinds.contains(kind), "a kind that CameraSetEvent.kinds lacks: \(kind)")
        (self.camera, self.kind, self.text) = (camera, kind, text.sanitized())
    }

    /// Makes the event of a capture; nil if the event is only internal.
    init?(_ event: CapturerEvent, camera: String) {
        switch event {
        case .stateChanged(let state): self.init("state", state.description, camera: camera)
        case .opened(let format): self.init("opened", "\(format.size)", camera: camera)
        case .sourceFailed(let error, _): self.init("failed", error.description, camera: camera)
        case .sourceAbandoned(let error): self.init("abandoned", error.description, camera: camera)
        case .recovered: self.init("recovered", "The source delivers frames again.", camera: camera)
        case .lagging(let isLagging):
            self.init("lagging", isLagging ? "Decoding does not keep up." : "Decoding keeps up again.", camera: camera)
        case .decoderFailed(let name, let error, _):
            self.init("decoder-failed", "\(name): \(error)", camera: camera)
        case .transportChanged(let reason): self.init("transport-changed", reason, camera: camera)
        case .sinkEnded(_, let name, let error):
            self.init("sink-ended", error.map { "\(name): \($0)" } ?? name, camera: camera)
        case .sinkRestarting(_, let name, let error, _, _):
            self.init("sink-failed", "\(name): \(error)", camera: camera)
        case .detected(let detection):
            self.init(detection.kind.rawValue, detection.isActive ? "begins" : "ends", camera: camera)
        case .sourceUpdated: return nil
        }
    }
}
