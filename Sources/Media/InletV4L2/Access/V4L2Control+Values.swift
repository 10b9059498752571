public import InletCore

extension V4L2Control {
    /// Parses a value for this control as a user writes it: a number, `true`, the name or number of a menu's choice, or
    /// a text.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` with what would be accepted.
    public func parse(_ text: String) throws(InletError) -> Value {
        guard !flags.contains(.readOnly) else { throw refusal("can only be read") }
        guard !flags.contains(.disabled), kind != .compound else { throw refusal("cannot be set here") }
        switch kind {
        case .button: return .number(0)
        case .boolean:
            guard let value = Bool(optionText: text) else { throw refusal("takes true or false, not '\(text)'") }
            return .number(value ? 1 : 0)
        case .text:
            let length = Int64(text.utf8.count)
            guard minimum...max(minimum, maximum) ~= length else {
                throw refusal("takes a text of \(minimum) to \(maximum) characters")
            }
            return .text(text)
        case .menu, .integerMenu:
            let wanted = text.lowercasedASCII
            if let choice = choices.first(where: { $0.value.lowercasedASCII.isSameBytes(as: wanted) }) {
                return .number(choice.key)
            }
            if kind == .menu, let number = Self.number(text), choices[number] != nil { return .number(number) }
            let list = choices.sorted { $0.key < $1.key }
                .map { kind == .menu ? "\($0.key) (\($0.value))" : $0.value }.joined(separator: ", ")
            throw refusal("has no choice '\(text)'. The choices are \(list)")
        case .bitmask:
            guard let number = Self.number(text), number & ~maximum == 0 else {
                throw refusal("takes bits of 0x\(String(UInt64(bitPattern: maximum), radix: 16)), not '\(text)'")
            }
            return .number(number)
        case .integer, .integer64:
            guard let number = Self.number(text), minimum...max(minimum, maximum) ~= number else {
                throw refusal("takes \(minimum) to \(maximum)\(unit.map { " (\($0))" } ?? ""), not '\(text)'")
            }
            return .number(number)
        case .compound: throw refusal("cannot be set here")
        }
    }

    private static func number(_ text: String) -> Int64? {
        text.lowercasedASCII.hasBytePrefix("0x") ? Int64(Substring(text.utf8.dropFirst(2)), radix: 16) : Int64(text)
    }

    private func refusal(_ what: String) -> InletError {
        InletError(.invalidConfiguration, "The control \(name) \(what).", context: .init(operation: "controls"))
    }
}
