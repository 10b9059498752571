/// Reads a JSON text by the letter of RFC 8259, within bounds, and refuses an object that has a key twice: two readers
/// could otherwise take different values from one file.
///
/// No reader of the system reports duplicate keys, keeps numbers as they are written, or names the line of a value.
package struct JSONReader {
    /// How deep arrays and objects may be nested.
    package static let deepest = 8
    /// The most bytes of a number.
    private static let longestNumber = 40
    /// The most members of an object, and elements of an array.
    private static let mostElements = 1024

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    /// Reads a text whose length the caller has bounded.
    ///
    /// - Throws: ``InletError/Code/malformedData`` with the line and the fault.
    package static func read(_ bytes: [UInt8]) throws(InletError) -> JSONValue {
        var reader = JSONReader(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw reader.error("the file begins with a byte order mark; save it as UTF-8 without one")
        }
        reader.skipSpace()
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else {
            throw reader.error("something follows the end of the value; a file holds one object")
        }
        return value
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func error(_ text: String) -> InletError { InletError(.malformedData, "line \(line): \(text)") }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            if byte == 0x0A { line += 1 }
            position += 1
        }
    }

    /// Takes a byte if it comes next.
    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(InletError) -> JSONValue {
        guard depth <= Self.deepest else {
            throw error("lists and objects are nested deeper than \(Self.deepest) levels")
        }
        let line = line
        let content: JSONValue.Content
        switch next {
        case UInt8(ascii: "{"): content = .object(try object(depth: depth))
        case UInt8(ascii: "["): content = .array(try array(depth: depth))
        case UInt8(ascii: "\""): content = .string(try string())
        case let byte? where byte == UInt8(ascii: "-") || byte.isASCIIDigit: content = .number(try number())
        default: content = try word()
        }
        return JSONValue(content: content, line: line)
    }

    private mutating func word() throws(InletError) -> JSONValue.Content {
        let words: [(String, JSONValue.Content)] = [
            ("true", .boolean(true)), ("false", .boolean(false)), ("null", .null),
        ]
        for (word, content) in words where bytes[position...].starts(with: word.utf8) {
            position += word.utf8.count
            return content
        }
        guard next != nil else { throw error("the file ends in the middle; it may have been cut off") }
        throw error("a value is expected here: text in quotation marks, a number, true, false, a list or an object")
    }

    private mutating func object(depth: Int) throws(InletError) -> [JSONMember] {
        position += 1
        var members: [JSONMember] = []
        var keys: Set<[UInt8]> = []
        skipSpace()
        if take("}") { return members }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else {
                throw error("a key in quotation marks is expected here, without a comma after the last member")
            }
            let key = try string()
            // Bytes are compared, because other readers treat two spellings of one letter as two keys.
            guard keys.insert(Array(key.utf8)).inserted else {
                throw error("the key \"\(key)\" occurs twice in one object; leave one of them out")
            }
            guard keys.count <= Self.mostElements else { throw error("an object has too many members") }
            skipSpace()
            guard take(":") else { throw error("a colon is expected after the key \"\(key)\"") }
            skipSpace()
            members.append(JSONMember(key: key, value: try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return members }
            guard take(",") else { throw error("a comma or a closing brace is expected here") }
        }
    }

    private mutating func array(depth: Int) throws(InletError) -> [JSONValue] {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return elements }
        while true {
            skipSpace()
            guard elements.count < Self.mostElements else { throw error("a list has too many elements") }
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return elements }
            guard take(",") else { throw error("a comma or a closing bracket is expected here") }
        }
    }

    private mutating func number() throws(InletError) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = bytes[start..<position]
        guard text.count <= Self.longestNumber else {
            throw error("a number is longer than \(Self.longestNumber) characters")
        }
        if let byte = next, byte.isASCIIDigit || byte.isASCIILetter || byte == UInt8(ascii: ".") {
            throw error("a number is written like 8, -2.5 or 1e6, without leading zeros or a unit")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func digits() throws(InletError) {
        guard let byte = next, byte.isASCIIDigit else { throw error("a digit is expected in the number") }
        while let byte = next, byte.isASCIIDigit { position += 1 }
    }

    private mutating func string() throws(InletError) -> String {
        position += 1
        var text: [UInt8] = []
        while true {
            guard let byte = next else { throw error("text lacks its closing quotation mark") }
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw error("text is not UTF-8; save the file as UTF-8")
                }
                return string
            case UInt8(ascii: "\\"):
                position += 1
                text += try escape()
            case ..<0x20:
                throw error("text contains a control character or a line end; write \\n or remove it")
            default:
                text.append(byte)
                position += 1
            }
        }
    }

    private mutating func escape() throws(InletError) -> [UInt8] {
        let simple: [UInt8: UInt8] = [
            UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F, UInt8(ascii: "b"): 0x08,
            UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
        ]
        guard let byte = next else { throw error("text lacks its closing quotation mark") }
        position += 1
        if let meant = simple[byte] { return [meant] }
        guard byte == UInt8(ascii: "u") else {
            throw error("a backslash in text must precede \" \\ / b f n r t or u")
        }
        var code = try hexadecimal()
        if (0xD800..<0xDC00).contains(code), take("\\"), take("u") {
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { throw error("half of a surrogate pair is missing") }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("half of a surrogate pair is missing") }
        guard code != 0 else { throw error("text must not contain \\u0000") }
        return Array(String(scalar).utf8)
    }

    private mutating func hexadecimal() throws(InletError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next?.hexadecimalValue else { throw error("\\u must precede four hexadecimal digits") }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }
}
