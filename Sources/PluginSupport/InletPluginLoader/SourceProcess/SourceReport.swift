import CInletPlugin
import InletCore
import InletPluginIPC

/// A report of a source's child, in addition to its items and the notes that plug-ins have.
///
/// Both ends are the same executable, so its form is not part of `inlet_plugin_protocol.h`.
enum SourceReport: Equatable {
    case detection(SourceDetection)
    case lag(Bool)
    case decoderFailure(name: String, InletError.Code, message: String, next: String)
    case reception(ReceptionFigures)
    case transportChange(String)

    /// The type of its message, after those of `inlet_plugin_protocol.h`.
    static let type: UInt32 = 120

    /// The most bytes of a code's name.
    static let longestCode = 64

    /// The message.
    var note: inlet_note {
        var note = inlet_note()
        note.type = Self.type
        switch self {
        case .detection(let detection):
            note.level = 0
            note.count = detection.isActive ? 1 : 0
            FixedText.write(detection.kind.rawValue, to: &note.text)
        case .lag(let isLagging):
            note.level = 1
            note.count = isLagging ? 1 : 0
        case .decoderFailure(let name, let code, let message, let next):
            note.level = 2
            note.count = UInt64(ResultCode.result(of: code).magnitude)
            FixedText.write("\(code)\n\(name)\n\(next)\n\(message)", to: &note.text)
        case .reception(let figures):
            note.level = 3
            let numbers: [UInt64] = [
                figures.packets, figures.packetsLost, figures.packetsDuplicated, figures.packetsReordered,
                figures.packetsLate, UInt64(max(0, figures.jitter.wholeNanoseconds)), figures.keyFrameRequests,
                figures.keyFrameResponses, UInt64(max(0, figures.keyFrameResponseTime.wholeNanoseconds)),
                figures.packetsRecovered,
            ]
            let texts = numbers.map { String($0) } + [figures.lossRemedy?.rawValue ?? ""]
            FixedText.write(texts.joined(separator: "\n"), to: &note.text)
        case .transportChange(let reason):
            note.level = 4
            FixedText.write(reason, to: &note.text)
        }
        return note
    }

    /// Reads a message; nil if its content does not match its type.
    init?(_ note: inlet_note) {
        guard let text = FixedText.text(note.text) else { return nil }
        let parts = text.split(atByte: "\n").map { String($0) }
        switch note.level {
        case 0:
            guard let kind = SourceDetection.Kind(rawValue: text) else { return nil }
            self = .detection(SourceDetection(kind, isActive: note.count != 0))
        case 1: self = .lag(note.count != 0)
        case 2:
            guard parts.count >= 4, note.count <= 1000 else { return nil }
            let result = -inlet_result(note.count)
            guard let code = ResultCode.code(named: parts[0], of: result) ?? ResultCode.code(of: result) else {
                return nil
            }
            let message = parts[3...].joined(separator: " ")
            self = .decoderFailure(
                name: parts[1].sanitized(limit: 80), code, message: Redaction.redact(message).sanitized(),
                next: parts[2].sanitized(limit: 80))
        case 3:
            let numbers = parts.prefix(10).compactMap { UInt64($0) }
            guard numbers.count == 10, parts.count == 11 else { return nil }
            var figures = ReceptionFigures()
            (figures.packets, figures.packetsLost) = (numbers[0], numbers[1])
            (figures.packetsDuplicated, figures.packetsReordered) = (numbers[2], numbers[3])
            (figures.packetsLate, figures.packetsRecovered) = (numbers[4], numbers[9])
            figures.jitter = .nanoseconds(Int64(clamping: numbers[5]))
            (figures.keyFrameRequests, figures.keyFrameResponses) = (numbers[6], numbers[7])
            figures.keyFrameResponseTime = .nanoseconds(Int64(clamping: numbers[8]))
            figures.lossRemedy = ReceptionFigures.LossRemedy(rawValue: parts[10])
            self = .reception(figures)
        case 4: self = .transportChange(Redaction.redact(text).sanitized())
        default: return nil
        }
    }
}
