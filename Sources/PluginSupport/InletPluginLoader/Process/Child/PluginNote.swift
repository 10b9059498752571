import CInletPlugin
import InletCore
import InletPluginIPC
import Logging

/// A message that a child sends without a request.
enum PluginNote: Equatable {
    case progress
    case drop(DropReason, UInt64)
    case interruption(String)
    case interruptionEnd
    case log(Logger.Level, String)
    case keyFrame
    /// Only from the child of one of Inlet's own sources.
    case report(SourceReport)

    /// Whether a type of message is that of a note.
    static func isNote(_ type: UInt32) -> Bool {
        (INLET_MESSAGE_PROGRESS...INLET_MESSAGE_KEY_FRAME).contains(Int(type)) || type == SourceReport.type
    }

    /// Reads the message in a buffer.
    ///
    /// - Throws: a ``PluginLie`` if its content does not match its type.
    init(_ buffer: borrowing MessageBuffer) throws(PluginLie) {
        switch Int(buffer.type) {
        case INLET_MESSAGE_PROGRESS: self = .progress
        case INLET_MESSAGE_KEY_FRAME: self = .keyFrame
        default:
            guard let note = buffer.read(inlet_note.self) else { throw PluginLie("sent a note that is too short") }
            guard note.type == SourceReport.type else {
                try self.init(note)
                return
            }
            guard let report = SourceReport(note) else { throw PluginLie("sent an invalid report") }
            self = .report(report)
        }
    }

    private init(_ note: inlet_note) throws(PluginLie) {
        guard let text = FixedText.text(note.text) else { throw PluginLie("sent a note that is not UTF-8") }
        switch Int(note.type) {
        case INLET_MESSAGE_DROP:
            guard (1...32).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit })
            else { throw PluginLie("counted drops for a reason that is not one word of at most 32 letters") }
            guard note.count <= UInt64(UInt32.max) else { throw PluginLie("counted \(note.count) drops at once") }
            self = .drop(DropReason(text), note.count)
        case INLET_MESSAGE_INTERRUPTION:
            self = text.isEmpty ? .interruptionEnd : .interruption(Redaction.redact(text).sanitized(limit: 200))
        default:
            guard let level = Self.level(note.level) else {
                throw PluginLie("sent a line for the log with the unknown level \(note.level)")
            }
            self = .log(level, Redaction.redact(text).sanitized())
        }
    }

    /// Returns the level of a line for the log; nil for an invalid number.
    static func level(_ number: inlet_log_level) -> Logger.Level? {
        let levels: [Logger.Level] = [.debug, .info, .warning, .error]
        return levels.indices.contains(Int(number)) ? levels[Int(number)] : nil
    }
}
