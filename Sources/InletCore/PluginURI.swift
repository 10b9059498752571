/// The name of a source or sink: `scheme:rest?option=value&option=value`.
///
/// A text without a scheme is a local path and gets the scheme `file`. Such a path is taken as it is; with a written scheme, `%XX` stands for
/// the byte XX in the rest and in option values, so `file:what%3F.mp4` opens `what?.mp4`.
public struct PluginURI: Sendable, Hashable {
    /// In lower case, without the colon.
    public let scheme: String
    /// What stands between the scheme and the options, percent-decoded: a path, a pattern's name, a host and path.
    public let rest: String
    /// The options in the order written, percent-decoded.
    public let options: [Option]
    /// The text it was made from, with any password in it.
    public let text: String

    public struct Option: Sendable, Hashable {
        public var name: String
        public var value: String
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` where the text is empty, an escape is broken, or an option has no `=`.
    public init(_ text: String) throws(InletError) {
        self.text = text
        let (scheme, afterScheme) = Self.split(text)
        guard !text.isEmpty, scheme != nil || !afterScheme.isEmpty else {
            throw InletError(.invalidConfiguration, "A source or sink needs a name, such as pattern:smpte or clip.mp4.")
        }
        self.scheme = scheme ?? "file"
        let parts = afterScheme.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        rest = try scheme == nil ? String(parts[0]) : Self.decode(parts[0], in: text)
        guard parts.count > 1 else {
            options = []
            return
        }
        var options: [Option] = []
        for item in parts[1].split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, !pair[0].isEmpty else {
                throw InletError(
                    .invalidConfiguration,
                    "The option '\(item)' has no value. Write options as name=value, joined by &.")
            }
            try options.append(
                Option(name: Self.decode(pair[0], in: text), value: Self.decode(pair[1], in: text)))
        }
        self.options = options
    }

    /// The URI with any `user:password@` and any option whose name speaks of a secret blotted out: for logs and errors.
    public var redacted: String { Redaction.redact(text) }

    /// A scheme as RFC 3986, section 3.1, has it, and what follows the colon.
    private static func split(_ text: String) -> (scheme: String?, rest: Substring) {
        guard let colon = text.firstIndex(of: ":"), let first = text.utf8.first, isLetter(first),
            text[..<colon].utf8.allSatisfy({
                isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.".utf8.contains($0)
            })
        else { return (nil, text[...]) }
        return (text[..<colon].lowercased(), text[text.index(after: colon)...])
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
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
            guard let high = rest.popFirst(), let low = rest.popFirst(),
                let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
            else {
                throw InletError(
                    .invalidConfiguration,
                    "A % in a URI starts an escape such as %3F; write %25 for the sign itself.",
                    context: .init(subject: Redaction.redact(whole)))
            }
            bytes.append(value)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw InletError(
                .invalidConfiguration, "The escapes in the URI do not make UTF-8 text.",
                context: .init(subject: Redaction.redact(whole)))
        }
        return decoded
    }
}

extension PluginURI: CustomStringConvertible {
    /// The redacted text.
    public var description: String { redacted }
}
