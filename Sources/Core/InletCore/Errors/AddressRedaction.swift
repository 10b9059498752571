/// Masks what addresses carry besides host and path: the values of queries and of parameters in paths, and fragments.
struct AddressRedaction {
    /// Whether the values of the query parameter with this name may be shown.
    let isShown: (String) -> Bool
    /// Whether a byte ends an address in running text.
    let endsURL: (UInt8) -> Bool

    /// The part of an address that the current bytes belong to.
    private enum Part {
        /// No address.
        case text
        /// Host and path of an address.
        case path
        /// The part after a `?`.
        case query(ofAddress: Bool)
    }

    func redact(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text[...]
        var part = Part.text
        while let byte = rest.first {
            if endsURL(byte) { part = .text }
            result.append(byte)
            rest = rest.dropFirst()
            switch (byte, part) {
            case (UInt8(ascii: "/"), .text) where rest.first == UInt8(ascii: "/"):
                result.append(byte)
                rest = rest.dropFirst()
                part = .path
            case (UInt8(ascii: "?"), .text): part = .query(ofAddress: false)
            case (UInt8(ascii: "?"), .path): part = .query(ofAddress: true)
            case (UInt8(ascii: "#"), .path):
                let fragment = rest.prefix { !endsURL($0) }
                if !fragment.isEmpty { result += Redaction.mark.utf8 }
                rest = rest[fragment.endIndex...]
                continue
            case (UInt8(ascii: "/"), .path), (UInt8(ascii: "&"), _), (UInt8(ascii: ";"), _): break
            default: continue
            }
            result += parameter(&rest, of: part)
        }
        return result
    }

    /// Consumes the parameter that begins here, and returns what is shown of it; nothing if none begins.
    private func parameter(_ rest: inout ArraySlice<UInt8>, of part: Part) -> [UInt8] {
        let ends: String.UTF8View
        switch part {
        case .path: ends = "/?#&;".utf8
        case .query, .text: ends = "&;".utf8
        }
        let parameter = rest.prefix { !ends.contains($0) && !endsURL($0) }
        guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else {
            // A name without a value may be a token.
            guard case .query(ofAddress: true) = part, !parameter.isEmpty else { return [] }
            rest = rest[parameter.endIndex...]
            return Array(Redaction.mark.utf8)
        }
        let (name, value) = (parameter[..<equals], parameter[(equals + 1)...])
        guard isHidden(name, value, part) else { return [] }
        rest = rest[parameter.endIndex...]
        // Text after an & or ; that is not a parameter still belongs to the value.
        while let separator = rest.first, "&;".utf8.contains(separator) {
            let next = rest.dropFirst().prefix { !ends.contains($0) && !endsURL($0) }
            guard !next.contains(UInt8(ascii: "=")) else { break }
            rest = rest[next.endIndex...]
        }
        return Array(parameter[...equals]) + Redaction.mark.utf8
    }

    private func isHidden(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, _ part: Part) -> Bool {
        switch part {
        case .text: Redaction.isSecret(name)
        case .path: !Redaction.isSelector(name, value: value)
        case .query:
            !Redaction.isSelector(name, value: value)
                && !isShown(String(decoding: PercentEncoding.decode(bytes: name), as: UTF8.self))
        }
    }
}
