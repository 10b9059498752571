import InletCore
import InletHTTPServer

extension CameraHistory.Sample {
    /// The sample as the API shows it.
    var json: JSONValue {
        let seconds = length.inSeconds
        return .object([
            ("time", .text(WallTime.text(begin))), ("seconds", .number(seconds)),
            ("frameRate", .number(seconds > 0 ? Double(frames) / seconds : 0)), ("dropped", .number(dropped)),
            ("state", .text(phase.rawValue)),
        ])
    }
}
