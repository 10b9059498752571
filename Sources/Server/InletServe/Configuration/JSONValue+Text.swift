package import InletCore

extension JSONValue {
    /// Makes a string.
    package static func text(_ text: String) -> JSONValue { JSONValue(content: .string(text), line: 0) }
    /// Makes a whole number.
    package static func number(_ number: some BinaryInteger) -> JSONValue {
        JSONValue(content: .number("\(number)"), line: 0)
    }
    /// Makes a number; null if JSON cannot express it.
    package static func number(_ number: Double) -> JSONValue {
        number.isFinite ? JSONValue(content: .number("\(number)"), line: 0) : .null
    }
    /// Makes true or false.
    package static func boolean(_ isTrue: Bool) -> JSONValue { JSONValue(content: .boolean(isTrue), line: 0) }
    /// Makes an array.
    package static func list(_ elements: [JSONValue]) -> JSONValue { JSONValue(content: .array(elements), line: 0) }
    /// Makes an object. No key may occur twice.
    package static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        JSONValue(content: .object(members.map { JSONMember(key: $0.0, value: $0.1) }), line: 0)
    }
    /// The null value.
    package static var null: JSONValue { JSONValue(content: .null, line: 0) }

    /// Returns the value of a key; nil if this is not an object or has no such key.
    package subscript(key: String) -> JSONValue? { members?.first { $0.key.isSameBytes(as: key) }?.value }

    /// Returns the value as a JSON text.
    ///
    /// - Parameter isIndented: whether the text is for people, with one member per line.
    package func text(isIndented: Bool = false) -> String {
        var text = ""
        write(to: &text, indentation: isIndented ? 0 : nil)
        return text
    }

    private func write(to text: inout String, indentation: Int?) {
        let inner = indentation.map { $0 + 2 }
        func newLine(_ indentation: Int?) {
            if let indentation { text += "\n" + String(repeating: " ", count: indentation) }
        }
        switch content {
        case .null: text += "null"
        case .boolean(let isTrue): text += isTrue ? "true" : "false"
        case .number(let number): text += number
        case .string(let string): Self.quote(string, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += indentation == nil ? "," : ", " }
                element.write(to: &text, indentation: inner)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                newLine(inner)
                Self.quote(member.key, to: &text)
                text += indentation == nil ? ":" : ": "
                member.value.write(to: &text, indentation: inner)
            }
            if !members.isEmpty { newLine(indentation) }
            text += "}"
        }
    }

    private static func quote(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            // Characters that end a line in scripts, and characters that could end a script in a page.
            case "\u{2028}", "\u{2029}", "<", "\u{0}"..<"\u{20}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
