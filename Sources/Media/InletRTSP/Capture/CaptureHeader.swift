import InletCore

/// The first line of a capture: the version of the format, and facts about the session as `name=value`.
///
/// The layout is described in `Docs/reference/rtsp-capture.md`.
package struct CaptureHeader: Sendable, Equatable {
    /// A fact. The name consists of visible ASCII characters without `=`.
    package struct Field: Sendable, Equatable {
        package var name: String
        package var value: String
    }

    /// The facts in their order. Readers ignore names that they do not know.
    package private(set) var fields: [Field] = []

    /// The version that is written, and the only one that is read.
    package static let version = 1
    /// The most bytes of the line with its end.
    package static let longest = 8192
    private static let magic = Array("rtspcap/".utf8)

    package init() {}

    /// The value of the first fact with this name. Setting it replaces that, or adds one; nil removes it.
    package subscript(_ name: StaticString) -> String? {
        get { fields.first { $0.name.utf8.elementsEqual("\(name)".utf8) }?.value }
        set {
            let index = fields.firstIndex { $0.name.utf8.elementsEqual("\(name)".utf8) }
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append(Field(name: "\(name)", value: value))
            case (nil, nil): break
            }
        }
    }

    /// The line. Facts that do not fit are omitted.
    package var bytes: [UInt8] {
        var line = Self.magic + "\(Self.version)".utf8
        for field in fields {
            let text = [UInt8(ascii: " ")] + field.name.utf8 + [UInt8(ascii: "=")] + Self.escaped(field.value)
            if line.count + text.count < Self.longest { line += text }
        }
        return line + [UInt8(ascii: "\n")]
    }

    /// Reads the line.
    ///
    /// - Parameter line: the line without its end.
    /// - Throws: ``CaptureError/notCapture`` for anything else, ``CaptureError/unknownVersion`` for a later format.
    package init(line: [UInt8]) throws(CaptureError) {
        guard line.starts(with: Self.magic) else { throw .notCapture }
        let words = line.dropFirst(Self.magic.count).split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
        guard let version = words.first.flatMap({ TextBytes.number($0) }) else { throw .notCapture }
        guard version == Self.version else { throw .unknownVersion(version) }
        for word in words.dropFirst() {
            guard let (name, value) = HeaderText.halves(word, at: "="), !name.isEmpty else { continue }
            fields.append(
                Field(
                    name: String(decoding: name, as: UTF8.self),
                    value: PercentEncoding.decode(String(decoding: value, as: UTF8.self))))
        }
    }

    /// Returns a value in visible ASCII characters: everything else, and the percent sign, is percent-encoded.
    private static func escaped(_ value: String) -> [UInt8] {
        value.utf8.reduce(into: []) { result, byte in
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "%") {
                result.append(byte)
            } else {
                result += PercentEncoding.encode(byte).utf8
            }
        }
    }
}
