/// The name of a source or sink: `scheme:rest?option=value&option=value`.
///
/// Text without a scheme is a local path and gets the scheme `file`. Such a path is used unchanged. With an explicit
/// scheme, `%XX` means the byte XX in the rest and in option values, so `file:what%3F.mp4` opens `what?.mp4`.
public struct PluginURI: Sendable, Hashable {
    /// The scheme in lower case, without the colon.
    public let scheme: String
    /// The part between the scheme and the options, percent-decoded unless it is an address such as `//host/path`: a
    /// path, a pattern's name, a host and path.
    public let rest: String
    /// The options in the order written, percent-decoded.
    public let options: [Option]
    /// The text it was made from, with any password in it.
    public let text: String

    /// A single `name=value` after the `?`.
    public struct Option: Sendable, Hashable {
        /// The part before the `=`.
        public var name: String
        /// The part after it, which may be empty.
        public var value: String
        /// The whole item as written, escapes included.
        public var text = ""
        /// Whether there is no `=`, as in a camera's own query `//host/path?main`. Such an item is only a name.
        public var isBare = false
        /// The name in an address: without the prefix `query.`, which marks that it belongs there.
        public var addressName: String { prefixCount > 0 ? String(Substring(name.utf8.dropFirst(prefixCount))) : name }

        static let prefix = "query."
        /// How many bytes of ``text`` are the prefix that marks an option of an address.
        var prefixCount: Int { text.utf8.starts(with: Self.prefix.utf8) ? Self.prefix.utf8.count : 0 }
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` if the text is empty, an escape is broken, or an option of a
    ///   URI that is not an address has no `=`.
    public init(_ text: String) throws(InletError) {
        self.text = text
        let (scheme, afterScheme) = Self.split(text)
        guard !text.isEmpty, scheme != nil || !afterScheme.isEmpty else {
            throw InletError(.invalidConfiguration, "A source or sink needs a name, such as pattern:smpte or clip.mp4.")
        }
        self.scheme = scheme ?? "file"
        let (rest, items) = Self.splitOptions(afterScheme)
        // An address with a host keeps its escapes: it is passed on to another program unchanged, and a password may
        // hold any character.
        let isAddress = scheme != nil && scheme != "file" && rest.containsBytes("//")
        self.rest = try scheme == nil || isAddress ? String(rest) : Self.decode(rest, in: text)
        var options: [Option] = []
        for item in items.utf8.split(separator: UInt8(ascii: "&")) {
            let equals = item.firstIndex(of: UInt8(ascii: "="))
            // Behind an address it may be the camera's. An item that looks like more than a name may be the end of a
            // password.
            if isAddress, equals == nil, item.allSatisfy(Self.mayStandInName),
                !options.contains(where: { Redaction.isSecret($0.name) })
            {
                try options.append(
                    Option(
                        name: Self.decode(Substring(item), in: text), value: "", text: String(Substring(item)),
                        isBare: true))
                continue
            }
            guard let equals, equals > item.startIndex else {
                // An item without = may be the end of a password that holds a ? or an &, so it is shown only if there
                // is no password.
                let mayBeSecret =
                    isAddress || text.utf8.contains(UInt8(ascii: "@"))
                    || options.contains { Redaction.isSecret($0.name) }
                let option = mayBeSecret ? "An option" : "The option '\(Substring(item))'"
                let hint = scheme == nil ? " A ? in a file's name is written %3F, after file:." : ""
                throw InletError(
                    .invalidConfiguration,
                    "\(option) has no value. Write options as name=value, joined by &.\(hint)",
                    context: .init(subject: Redaction.redact(uri: text)))
            }
            try options.append(
                Option(
                    name: Self.decode(Substring(item[..<equals]), in: text),
                    value: Self.decode(Substring(item[equals...].dropFirst()), in: text), text: String(Substring(item)))
            )
        }
        self.options = options
    }

    /// The URI for logs and errors, with everything masked that may be a secret, as in ``Redaction/redact(uri:)``: this
    /// includes the values of all its options, as only the plug-in knows which of them are secrets.
    public var redacted: String { Redaction.redact(uri: text) }

    /// Returns the redacted URI with the values of declared options that are not secrets.
    package func redacted(declared: [PluginOptionDescription]) -> String {
        Redaction.redact(uri: text) { name in
            if let description = declared.named(name) {
                return description.kind != .secret && !Redaction.isSecret(name)
            }
            // The place of a secret is not a secret.
            return [SecretForm.file, .variable].contains { form in
                guard name.hasByteSuffix(form.suffix) else { return false }
                let base = Substring(name.utf8.dropLast(form.suffix.utf8.count))
                return base.hasBytePrefix("query.") || declared.secret(named: base) != nil
            }
        }
    }

    /// Returns an address with options in its query as they are written, except that characters not allowed in a
    /// request are escaped, and the prefix `query.` of a name is removed.
    public static func address(_ address: String, _ query: [Option]) -> String {
        // A ? before an @ belongs to a password.
        let bytes = address.utf8
        let end = bytes.lastIndex(of: UInt8(ascii: "@")) ?? bytes.startIndex
        var mark = bytes[end...].contains(UInt8(ascii: "?")) ? "&" : "?"
        return query.reduce(into: address) { address, option in
            address += mark
            mark = "&"
            for byte in option.text.utf8.dropFirst(option.prefixCount) {
                let isPrintable = byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "#")
                address += isPrintable ? String(UnicodeScalar(byte)) : PercentEncoding.encode(byte)
            }
        }
    }

    /// Splits off a scheme according to RFC 3986, section 3.1; the rest is what follows the colon.
    private static func split(_ text: String) -> (scheme: String?, rest: Substring) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first,
            first.isASCIILetter,
            text.utf8[..<colon].allSatisfy({
                $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0)
            })
        else { return (nil, text[...]) }
        return (text[..<colon].lowercasedASCII, text[text.utf8.index(after: colon)...])
    }

    /// Splits at the first ? that does not belong to a password, as in `//admin:what?@host/path?option=value`.
    ///
    /// If there is an @ on both sides of a ?, as in `//admin:p@ss?word@host` and `//admin:pass@host?name=a@b`, what
    /// follows the ? decides: it is options if it reads as such.
    private static func splitOptions(_ text: Substring) -> (rest: Substring, options: Substring) {
        let bytes = text.utf8
        let mark = UInt8(ascii: "?")
        guard var question = bytes.firstIndex(of: mark) else { return (text, "") }
        let authority = bytes[..<question].dropFirst(2)
        let belongsToPassword =
            authority.contains(UInt8(ascii: "@"))
            ? !readsAsOptions(bytes[question...].dropFirst())
            : !endsInPort(authority.prefix { $0 != UInt8(ascii: "/") })
        if bytes.starts(with: "//".utf8), belongsToPassword,
            let at = Redaction.userInformationEnd(in: bytes.dropFirst(2))
        {
            guard let next = bytes[at...].firstIndex(of: mark) else { return (text, "") }
            question = next
        }
        return (text[..<question], text[bytes.index(after: question)...])
    }

    private static func readsAsOptions(_ text: Substring.UTF8View) -> Bool {
        text.split(separator: UInt8(ascii: "&")).allSatisfy { item in
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { return item.allSatisfy(mayStandInName) }
            guard equals > item.startIndex else { return false }
            return item[..<equals].allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0 >= 0x80 || "-_.%".utf8.contains($0)
            }
        }
    }

    private static func mayStandInName(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "-_.%/,".utf8.contains(byte)
    }

    private static func endsInPort(_ authority: Substring.UTF8View) -> Bool {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")) else { return false }
        return authority[colon...].dropFirst().allSatisfy(\.isASCIIDigit)
    }

    private static func decode(_ text: Substring, in whole: String) throws(InletError) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(PercentEncoding.hexadecimalDigit),
                let low = rest.popFirst().flatMap(PercentEncoding.hexadecimalDigit)
            else {
                throw InletError(
                    .invalidConfiguration,
                    "A % in a URI starts an escape such as %3F; write %25 for the sign itself.",
                    context: .init(subject: Redaction.redact(uri: whole)))
            }
            bytes.append(high << 4 | low)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw InletError(
                .invalidConfiguration, "The escapes in the URI do not make UTF-8 text.",
                context: .init(subject: Redaction.redact(uri: whole)))
        }
        return decoded
    }
}

extension PluginURI: CustomStringConvertible {
    /// The redacted text.
    public var description: String { redacted }
}
