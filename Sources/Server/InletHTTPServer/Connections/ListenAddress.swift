package import InletCore

/// The form `HOST:PORT` in the URIs of sinks.
package struct ListenAddress: Sendable {
    /// The host; nil if it is left out.
    package var host: String?
    /// The port; nil if it is left out.
    package var port: Int?
    private static let separators = Set(":[]/ ".utf8)

    /// Reads `HOST:PORT`, `HOST`, `PORT`, `:PORT`, `[::1]:PORT` or nothing.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``, which shows the syntax after `scheme`.
    package init(_ address: String, scheme: String) throws(InletError) {
        var text = address.hasBytePrefix("//") ? String(address.dropFirst(2)) : address
        if text.isASCIIDigits { text = ":" + text }
        let colon = text.hasByteSuffix("]") ? nil : text.lastIndex(ofByte: ":")
        let host = colon.map { String(text[..<$0]) } ?? text
        let misread = InletError(
            .invalidConfiguration,
            "\(scheme): takes HOST:PORT, such as 127.0.0.1:8090 or [::1]:8090, or nothing; not '\(address)'.")
        if let colon {
            guard let port = UInt16(text[text.index(after: colon)...]) else { throw misread }
            self.port = Int(port)
        }
        let isBracketed = host.hasBytePrefix("[") && host.hasByteSuffix("]")
        guard isBracketed || !host.utf8.contains(where: Self.separators.contains) else { throw misread }
        if !host.isEmpty { self.host = isBracketed ? String(host.dropFirst().dropLast()) : host }
    }
}
