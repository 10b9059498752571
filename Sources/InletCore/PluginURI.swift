/// The name of a source or sink: `scheme:rest?option=value&option=value`.
///
/// A text without a scheme is a local path and gets the scheme `file`. Such a path is taken as it is; with a written scheme, `%XX` stands for
/// the byte XX in the rest and in option values, so `file:what%3F.mp4` opens `what?.mp4`.
public struct PluginURI: Sendable, Hashable {
    /// In lower case, without the colon.
    public let scheme: String
    /// What stands between the scheme and the options, percent-decoded unless it is an address such as `//host/path`: a path, a pattern's name, a host and path.
    public let rest: String
    /// The options in the order written, percent-decoded.
    public let options: [Option]
    /// The text it was made from, with any password in it.
    public let text: String

    /// One `name=value` behind the `?`.
    public struct Option: Sendable, Hashable {
        /// What stands before the `=`.
        public var name: String
        /// What stands after it, which may be empty.
        public var value: String
        /// The whole item as it is written, escapes included.
        public var text = ""
        /// Whether there is no `=`, as in a camera's own query `//host/path?main`. Such an item is a name alone.
        public var isBare = false
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` where the text is empty, an escape is broken, or an option of something that is no address has no `=`.
    public init(_ text: String) throws(InletError) {
        self.text = text
        let (scheme, afterScheme) = Self.split(text)
        guard !text.isEmpty, scheme != nil || !afterScheme.isEmpty else {
            throw InletError(.invalidConfiguration, "A source or sink needs a name, such as pattern:smpte or clip.mp4.")
        }
        self.scheme = scheme ?? "file"
        let (rest, items) = Self.splitOptions(afterScheme)
        // An address with a host keeps its escapes: it goes on to another program as it is, and a password may hold any character.
        let isAddress = scheme != nil && scheme != "file" && rest.contains("//")
        self.rest = try scheme == nil || isAddress ? String(rest) : Self.decode(rest, in: text)
        var options: [Option] = []
        for item in items.split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // Behind an address it may be the camera's. What looks like more than a name may be the end of a password.
            if isAddress, pair.count == 1, item.utf8.allSatisfy(Self.mayStandInName),
                !options.contains(where: { Redaction.isSecret($0.name) })
            {
                try options.append(
                    Option(name: Self.decode(item, in: text), value: "", text: String(item), isBare: true))
                continue
            }
            guard pair.count == 2, !pair[0].isEmpty else {
                // What has no = may be the end of a password that holds a ? or an &, so it is shown only where there is none.
                let redacted = Redaction.redact(uri: text)
                let option = redacted == text ? "The option '\(item)'" : "An option"
                let hint = scheme == nil ? " A ? in a file's name is written %3F, after file:." : ""
                throw InletError(
                    .invalidConfiguration,
                    "\(option) has no value. Write options as name=value, joined by &.\(hint)",
                    context: .init(subject: redacted))
            }
            try options.append(
                Option(
                    name: Self.decode(pair[0], in: text), value: Self.decode(pair[1], in: text), text: String(item)))
        }
        self.options = options
    }

    /// The URI with any `user:password@` and any option whose name speaks of a secret blotted out: for logs and errors.
    public var redacted: String { Redaction.redact(uri: text) }

    /// A scheme as RFC 3986, section 3.1, has it, and what follows the colon.
    private static func split(_ text: String) -> (scheme: String?, rest: Substring) {
        guard let colon = text.firstIndex(of: ":"), let first = text.utf8.first, isLetter(first),
            text[..<colon].utf8.allSatisfy({
                isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.".utf8.contains($0)
            })
        else { return (nil, text[...]) }
        return (text[..<colon].lowercased(), text[text.index(after: colon)...])
    }

    /// Splits at the first ? that does not belong to a password, as in `//admin:what?@host/path?option=value`.
    ///
    /// Where there is an @ on both sides of a ?, as in `//admin:p@ss?word@host` and `//admin:pass@host?name=a@b`, what follows the ? decides: it is
    /// options where it reads as such.
    private static func splitOptions(_ text: Substring) -> (rest: Substring, options: Substring) {
        guard var question = text.firstIndex(of: "?") else { return (text, "") }
        let authority = text[..<question].dropFirst(2)
        let belongsToPassword =
            authority.contains("@")
            ? !readsAsOptions(text[question...].dropFirst()) : !endsInPort(authority.prefix { $0 != "/" })
        if text.hasPrefix("//"), belongsToPassword, let at = Redaction.userInformationEnd(in: text.dropFirst(2)) {
            guard let next = text[at...].firstIndex(of: "?") else { return (text, "") }
            question = next
        }
        return (text[..<question], text[text.index(after: question)...])
    }

    private static func readsAsOptions(_ text: Substring) -> Bool {
        text.split(separator: "&").allSatisfy { item in
            guard let equals = item.firstIndex(of: "=") else { return item.utf8.allSatisfy(mayStandInName) }
            guard equals > item.startIndex else { return false }
            return item[..<equals].allSatisfy { $0.isLetter || $0.isNumber || "-_.%".contains($0) }
        }
    }

    private static func mayStandInName(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_.%/,".utf8.contains(byte)
    }

    private static func endsInPort(_ authority: Substring) -> Bool {
        guard let colon = authority.lastIndex(of: ":") else { return false }
        return authority[authority.index(after: colon)...].allSatisfy(\.isNumber)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
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
            guard let high = rest.popFirst().flatMap(hexadecimalDigit),
                let low = rest.popFirst().flatMap(hexadecimalDigit)
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
