import Inlet

/// A line on standard error with what a person at the terminal should know at once.
enum EventLine {
    static func write(_ event: CapturerEvent) {
        guard let text = text(event) else { return }
        Terminal.writeError((Terminal.isInteractive ? "\r\u{1B}[K" : "") + text + "\n")
    }

    private static func text(_ event: CapturerEvent) -> String? {
        switch event {
        case .opened(let format):
            format.colorSpace.transfer.highDynamicRangeName.map {
                "The source has high dynamic range (\($0)): tones are mapped for stills and pages, and for other sinks with tone-map=true."
            }
        case .stateChanged(.stalled): "No frames come any more."
        case .stateChanged(.interrupted(let reason)): "Interrupted: \(reason)"
        case .sourceFailed(let error, let delay?): "\(error) Trying again in \(delay.secondsText) s."
        case .sourceAbandoned(let error): "\(error)"
        case .recovered(let outage): "Frames come again, after \(outage.secondsText) s."
        case .lagging(true): "Decoding does not keep up: pictures that would be late are left out."
        case .lagging(false): "Decoding keeps up again."
        case .decoderFailed(let name, let error, let next): "The decoder \(name) failed: \(error) \(next) goes on."
        case .transportChanged(let reason): reason
        case .detected(let detection):
            "The camera detects \(detection.kind.rawValue)\(detection.isActive ? "" : " no more")."
        case .sourceUpdated(.taken(let version)): "The source goes on with \(version)."
        case .sourceUpdated(.refused(let error)): "The new version of the plug-in is not used: \(error)"
        default: nil
        }
    }
}

extension Duration {
    /// The duration in seconds with one decimal.
    fileprivate var secondsText: String { (Double(wholeNanoseconds) / 1e9).shortText }
}
