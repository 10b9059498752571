import Inlet

/// The lines on standard error for events that a person at the terminal should see at once.
enum EventLine {
    static func write(_ event: CapturerEvent) {
        guard let text = text(event) else { return }
        Terminal.writeError((Terminal.isInteractive ? "\r\u{1B}[K" : "") + text + "\n")
    }

    private static func text(_ event: CapturerEvent) -> String? {
        switch event {
        case .opened(let format):
            format.colorSpace.transfer.highDynamicRangeName.map {
                "The source has high dynamic range (\($0)): it is tone-mapped for stills and pages, and for other sinks with tone-map=true."
            }
        case .stateChanged(.stalled): "The source delivers no frames."
        case .stateChanged(.interrupted(let reason)): "Interrupted: \(reason)"
        case .sourceFailed(let error, let delay?): "\(error) Trying again in \(delay.secondsText) s."
        case .sourceAbandoned(let error): "\(error)"
        case .recovered(let outage): "The source delivers frames again after \(outage.secondsText) s."
        case .lagging(true): "Decoding does not keep up: late pictures are skipped."
        case .lagging(false): "Decoding keeps up again."
        case .decoderFailed(let name, let error, let next): "The decoder \(name) failed: \(error) \(next) takes over."
        case .transportChanged(let reason): reason
        case .detected(let detection):
            "The camera \(detection.isActive ? "detects" : "no longer detects") \(detection.kind.rawValue)."
        case .sourceUpdated(.taken(let version)): "The source now uses \(version)."
        case .sourceUpdated(.refused(let error)): "The new version of the plug-in is not used: \(error)"
        default: nil
        }
    }
}

extension Duration {
    /// The duration in seconds with one decimal.
    fileprivate var secondsText: String { (Double(wholeNanoseconds) / 1e9).shortText }
}
