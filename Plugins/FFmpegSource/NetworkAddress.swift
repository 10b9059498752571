import InletCore

/// A network address with its credentials apart.
struct NetworkAddress: Sendable, Hashable {
    let scheme: String
    let user: String?
    let password: String?
    /// Host, port and path, as written.
    let location: String

    /// - Parameter url: an address. What stands before the last `@` that can belong to them are credentials, whatever characters they hold.
    /// - Throws: ``InletError/Code/invalidConfiguration`` where there is no host.
    init(_ url: String) throws(InletError) {
        guard let mark = url.firstRange(of: "://"), mark.lowerBound > url.startIndex else {
            throw InletError(.invalidConfiguration, "A network source needs an address such as rtsp://host/path.")
        }
        scheme = url[..<mark.lowerBound].lowercased()
        // What stands behind the ? of a query belongs to neither host nor credentials.
        let length = (try? PluginURI(url))?.rest.dropFirst(2).count
        let behind = url[mark.upperBound...]
        let rest = length.map { behind.prefix($0) } ?? behind.prefix { $0 != "?" }
        let query = url[rest.endIndex...]
        let authority = rest.prefix { $0 != "/" }
        let port = authority.lastIndex(of: ":").map { authority[authority.index(after: $0)...] }
        let endsInHost =
            !authority.contains("@") && (authority.hasSuffix("]") || port?.allSatisfy(\.isNumber) ?? true)
        if !endsInHost, let at = rest.lastIndex(of: "@") {
            let information = rest[..<at]
            let colon = information.firstIndex(of: ":")
            user = Self.decoded(information[..<(colon ?? information.endIndex)])
            password = colon.map { Self.decoded(information[information.index(after: $0)...]) }
            location = String(rest[rest.index(after: at)...] + query)
        } else {
            (user, password) = (nil, nil)
            location = String(rest + query)
        }
        guard let first = location.first, first != "/", !location.contains(where: \.isNewline) else {
            throw InletError(.invalidConfiguration, "The address names no host.", context: .init(subject: scheme))
        }
    }

    /// Whether it names a port.
    var hasPort: Bool {
        let authority = location.prefix { !"/?".contains($0) }
        guard let colon = authority.lastIndex(of: ":") else { return false }
        let port = authority[authority.index(after: colon)...]
        return !port.isEmpty && port.allSatisfy(\.isNumber)
    }

    /// The address for libavformat, with every odd character of the credentials escaped.
    func url(user: String?, password: String?) -> String {
        guard let user = user ?? self.user else { return "\(scheme)://\(location)" }
        let secret = (password ?? self.password).map { ":" + Self.encoded($0) } ?? ""
        return "\(scheme)://\(Self.encoded(user))\(secret)@\(location)"
    }

    /// Whatever is an escape is one; any other % is itself.
    static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                bytes.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = byte < 128 && (character.isLetter || character.isNumber || "-._~".contains(character))
            result += isPlain ? String(character) : encoded(byte)
        }
    }

    static func encoded(_ byte: UInt8) -> String {
        (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }
}
