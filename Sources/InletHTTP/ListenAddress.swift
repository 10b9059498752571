package import InletCore

/// `HOST:PORT` as URIs of sinks have it.
package struct ListenAddress: Sendable {
    /// Nil where it is left out.
    package var host: String?
    /// Nil where it is left out.
    package var port: Int?

    /// Reads `HOST:PORT`, `HOST`, `PORT`, `:PORT`, `[::1]:PORT` or nothing.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` that shows how it is written after `scheme`.
    package init(_ address: String, scheme: String) throws(InletError) {
        var text = address.hasPrefix("//") ? String(address.dropFirst(2)) : address
        if !text.isEmpty, text.allSatisfy(\.isNumber) { text = ":" + text }
        let colon = text.lastIndex(of: ":").flatMap { text.hasSuffix("]") ? nil : $0 }
        let host = colon.map { String(text[..<$0]) } ?? text
        let misread = InletError(
            .invalidConfiguration,
            "\(scheme): takes HOST:PORT, such as 127.0.0.1:8090 or [::1]:8090, or nothing; not '\(address)'.")
        if let colon {
            guard let port = UInt16(text[text.index(after: colon)...]) else { throw misread }
            self.port = Int(port)
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard isBracketed || !host.contains(where: { ":[]/ ".contains($0) }) else { throw misread }
        if !host.isEmpty { self.host = isBracketed ? String(host.dropFirst().dropLast()) : host }
    }
}
