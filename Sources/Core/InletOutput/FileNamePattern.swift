package import InletCore

/// A path whose last part contains fields that change from one file to the next, as in `door-{n}.jpg`.
///
/// | in the pattern | in the name |
/// |---|---|
/// | `{n}`, `{n:4}` | a number from 1, with at least six digits or the given number |
/// | `%d`, `%06d` | the same, as other programs write it |
/// | `{date}`, `{time}` | the local date and time of day: `2026-11-21`, `235959` |
/// | `{utc}` | both in UTC: `20250131T235959.123Z` |
/// | `{sequence}` | the source's count of frames, for files of one frame |
/// | `{{`, `%%` | a brace, a percent sign |
package struct FileNamePattern: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case text(String)
        case number(digits: Int)
        case date
        case time
        case utc
        case sequence
    }

    /// A limit that leaves room for further numbers, whatever the name of an existing file.
    static let mostDigits = 18

    /// The folder with a slash at its end; empty for the current folder.
    package let folder: String
    let parts: [Part]

    /// - Parameter hasSequence: whether a file holds one frame, so that `{sequence}` has a meaning.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if a brace or a percent sign begins no field, for a field in
    ///   a folder's name, and if there is no file name.
    package init(_ path: String, hasSequence: Bool = false) throws(InletError) {
        let (brace, percent) = (UInt8(ascii: "{"), UInt8(ascii: "%"))
        var (folder, parts, text) = ("", [Part](), [UInt8]())
        var rest = Array(path.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case brace where rest.first == byte, percent where rest.first == byte: text.append(rest.removeFirst())
            case brace, percent:
                guard let part = Self.field(byte, &rest, hasSequence) else {
                    throw Self.refusal(of: Self.mistake(byte, rest), hasSequence)
                }
                if !text.isEmpty { parts.append(.text(String(decoding: text, as: UTF8.self))) }
                text = []
                parts.append(part)
            case UInt8(ascii: "/"):
                guard parts.isEmpty else {
                    throw InletError(
                        .invalidConfiguration, "Fields such as {n} may be in the file's name only, not in a folder's.")
                }
                folder += String(decoding: text, as: UTF8.self) + "/"
                text = []
            // The URI syntax turns %03d into this, because %03 is an escape.
            case ..<0x20:
                throw InletError(
                    .invalidConfiguration,
                    "The file's name contains a control character. In a URI, write {n:3} for %03d, and %25 for a percent sign."
                )
            default: text.append(byte)
            }
        }
        if !text.isEmpty { parts.append(.text(String(decoding: text, as: UTF8.self))) }
        guard !parts.isEmpty else {
            throw InletError(.invalidConfiguration, "'\(path)' is a folder; add a file name.")
        }
        (self.folder, self.parts) = (folder, parts)
    }

    /// Removes and returns the field after a brace or a percent sign; nil if the text does not begin with one.
    private static func field(_ opening: UInt8, _ text: inout ArraySlice<UInt8>, _ hasSequence: Bool) -> Part? {
        var rest = text
        let field: Part?
        if opening == UInt8(ascii: "%") {
            let digits = rest.prefix(while: \.isASCIIDigit)
            rest = rest.dropFirst(digits.count)
            guard rest.popFirst() == UInt8(ascii: "d") else { return nil }
            field = digits.allSatisfy { $0 == UInt8(ascii: "0") } ? .number(digits: 1) : number(digits: digits)
        } else {
            guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else { return nil }
            let name = rest[..<end]
            rest = rest[(end + 1)...]
            field =
                switch String(decoding: name, as: UTF8.self) {
                case "n": .number(digits: 6)
                case "date": .date
                case "time": .time
                case "utc": .utc
                case "sequence": hasSequence ? .sequence : nil
                default: name.starts(with: "n:".utf8) ? number(digits: name.dropFirst(2)) : nil
                }
        }
        if field != nil { text = rest }
        return field
    }

    /// Returns the text of an invalid field, including the brace or percent sign before it.
    private static func mistake(_ opening: UInt8, _ rest: ArraySlice<UInt8>) -> String {
        var bytes = [opening]
        if opening == UInt8(ascii: "{") {
            bytes += rest.prefix { !"}/".utf8.contains($0) }
            bytes += rest.dropFirst(bytes.count - 1).prefix(1).filter { $0 == UInt8(ascii: "}") }
        } else {
            // A character of several bytes is shown as a whole.
            bytes += rest.prefix(1) + rest.dropFirst().prefix { $0 & 0xC0 == 0x80 }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func number(digits: ArraySlice<UInt8>) -> Part? {
        TextBytes.number(digits, upTo: mostDigits).flatMap { $0 > 0 ? .number(digits: $0) : nil }
    }

    private static func refusal(of what: String, _ hasSequence: Bool) -> InletError {
        InletError(
            .invalidConfiguration,
            "'\(what)' in a file's name is not a known field. Use {n}, {n:DIGITS}, {date}, {time}, {utc}\(hasSequence ? ", {sequence}" : "") or %d; "
                + "write {{ for a brace and %% for a percent sign.")
    }

    /// Whether a later file can have another name.
    package var varies: Bool {
        parts.contains {
            if case .text = $0 { false } else { true }
        }
    }

    /// Whether each file of a series gets a distinct name: {date} alone does not ensure that.
    package var tellsFilesApart: Bool {
        parts.contains {
            switch $0 {
            case .text, .date: false
            case .number, .time, .utc, .sequence: true
            }
        }
    }

    /// Whether names contain the time of day or the date.
    package var hasTime: Bool {
        parts.contains {
            switch $0 {
            case .date, .time, .utc: true
            case .text, .number, .sequence: false
            }
        }
    }

    /// Whether files are numbered.
    package var hasNumber: Bool {
        parts.contains {
            if case .number = $0 { true } else { false }
        }
    }

    /// Returns a file's path.
    ///
    /// - Parameters:
    ///   - time: the time in nanoseconds since 1970.
    ///   - copy: the number of the copy; from 2 on, it is put before the extension.
    package func path(number: Int, time: Int64, sequence: UInt64 = 0, copy: Int = 1) -> String {
        let (local, utc) = (CalendarTime(time, in: .local), CalendarTime(time, in: .utc))
        var name = ""
        for part in parts {
            switch part {
            case .text(let text): name += text
            case .number(let digits): name += CalendarTime.padded(number, digits)
            case .date: name += Self.date(local, separator: "-")
            case .time: name += Self.time(local)
            case .utc:
                let milliseconds = CalendarTime.padded(utc.millisecond, 3)
                name += "\(Self.date(utc, separator: ""))T\(Self.time(utc)).\(milliseconds)Z"
            case .sequence: name += String(sequence)
            }
        }
        guard copy > 1 else { return folder + name }
        let dot = name.lastIndex(ofByte: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        return "\(folder)\(name[..<dot])-\(copy)\(name[dot...])"
    }

    private static func date(_ time: CalendarTime, separator: String) -> String {
        [(time.year, 4), (time.month, 2), (time.day, 2)].map { CalendarTime.padded($0, $1) }
            .joined(separator: separator)
    }

    private static func time(_ time: CalendarTime) -> String {
        [time.hour, time.minute, time.second].map { CalendarTime.padded($0, 2) }.joined()
    }
}
