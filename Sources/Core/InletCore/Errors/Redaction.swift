/// Removes credentials from text that people or logs will see.
///
/// If a text can be read in two ways, the reading that hides more is used. Everything is read as bytes: a byte that a C
/// program reads as `?` or `@` is one here, whatever combining characters follow it.
public enum Redaction {
    /// The replacement of a secret.
    public static let mark = "***"

    /// Returns the text with these replaced by ``mark``:
    ///
    /// - the user information of every `//user:password@host`, and what precedes the `@` of a relay,
    ///   `turn:user:password@host`;
    /// - the stream key of every RTMP address;
    /// - in every address, the values of the query, of `name=value` in the path and the fragment, except for stream
    ///   selectors of cameras such as `channel=1`;
    /// - the values of what follows a `?` elsewhere, and of `&name=value` if the name suggests a secret;
    /// - the values of a command's options whose names suggest one: `--name value`, `--name=value`, `NAME=value`;
    /// - the values of `Authorization:` and `Cookie:` headers, to the end of the line.
    ///
    /// A password may hold any character, including a slash or an @: everything up to the last @ before a space or
    /// quote that can still belong to the authority is taken for user information.
    public static func redact(_ text: String) -> String {
        redact(text, endsURL: { " \t\n\r\"'<>".utf8.contains($0) }, isShown: { _ in false })
    }

    /// Redacts a text that is a single URI, so that a space or quote does not end it. Control characters and similar,
    /// which belong in no URI, are written as escapes such as `\u{1B}`.
    public static func redact(uri: String) -> String { redact(uri: uri) { _ in false } }

    /// - Parameter isShown: whether the values of a query's parameter may be shown, by its name.
    static func redact(uri: String, isShown: @escaping (String) -> Bool) -> String {
        redact(uri, endsURL: { _ in false }, isShown: isShown).sanitized(limit: 4096)
    }

    private static func redact(
        _ text: String, endsURL: @escaping (UInt8) -> Bool, isShown: @escaping (String) -> Bool
    ) -> String {
        var bytes = Array(text.utf8)
        bytes = redactUserInformation(bytes, endsURL: endsURL)
        bytes = redactRelayUsers(bytes, endsURL: endsURL)
        bytes = redactStreamKeys(bytes, endsURL: endsURL)
        bytes = AddressRedaction(isShown: isShown, endsURL: endsURL).redact(bytes)
        bytes = redactOptions(bytes)
        return String(decoding: redactHeaders(bytes), as: UTF8.self)
    }

    // MARK: Names

    /// Words that make an option or query parameter a secret when its name contains one of them.
    private static let secretWords = [
        "password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "api_key", "api-key", "auth",
        "signature", "credential", "loginpas", "decryption_key", "activation_bytes", "audible", "jwt", "hmac",
        "streamid",
        "cookie", "session", "bearer", "streamkey", "stream_key", "stream-key",
    ].map { Array($0.utf8) }
    /// Names of secrets that are too short to look for inside other names.
    private static let secretNames: Set<String> = ["pass", "pw", "psw", "key", "sig"]
    /// Parameters that choose one of a camera's streams, shown if their values are numbers of at most three digits: too
    /// short for a secret, and what distinguishes the channels of a recorder.
    private static let selectors: Set<String> = [
        "camera", "ch", "channel", "channelid", "profile", "stream", "streamtype", "subtype", "track", "trackid",
    ]

    /// Whether an option or query parameter of this name holds a secret. A name that refers to the place of a secret,
    /// such as `password-file`, does not.
    static func isSecret(_ name: some StringProtocol) -> Bool { isSecret(Array(name.utf8)[...]) }

    static func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
        var name = PercentEncoding.decode(bytes: name).map(\.lowercasedASCII)[...]
        for prefix in ["query.", "ffmpeg."] where name.starts(with: prefix.utf8) {
            name = name.dropFirst(prefix.utf8.count)
        }
        if secretNames.contains(String(decoding: name, as: UTF8.self)) { return true }
        guard secretWords.contains(where: { name.firstRange(ofBytes: $0) != nil }) else { return false }
        return !["-file", "-env"].contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    /// Whether a parameter of an address merely chooses a stream.
    package static func isSelector(_ name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) -> Bool {
        (1...3).contains(value.count) && value.allSatisfy(\.isASCIIDigit)
            && selectors.contains(String(decoding: name.map(\.lowercasedASCII), as: UTF8.self))
    }

    // MARK: User information

    private static func redactUserInformation(_ text: [UInt8], endsURL: (UInt8) -> Bool) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        let lastAt = text.lastIndex(of: UInt8(ascii: "@")) ?? text.startIndex
        while let slashes = rest.firstRange(ofBytes: "//".utf8), slashes.upperBound <= lastAt {
            result += rest[..<slashes.upperBound]
            rest = rest[slashes.upperBound...]
            let url = rest.prefix { !endsURL($0) }
            if let at = userInformationEnd(in: url) ?? userInformationEnd(beyond: url, in: rest, endsURL: endsURL) {
                result += mark.utf8
                rest = rest[at...]
            }
        }
        return result + rest
    }

    /// Returns the index of the @ that ends the user information, given the text after the `//` of a URL; nil if the
    /// URL has no user information.
    static func userInformationEnd<Text: BidirectionalCollection<UInt8>>(in url: Text) -> Text.Index? {
        // A colon or an @ before the first ? may have begun a password that contains the ?. Without either, an @ after
        // the ? belongs to an option.
        url.prefix { $0 != UInt8(ascii: "?") }.contains { ":@".utf8.contains($0) }
            ? url.lastIndex(of: UInt8(ascii: "@")) : nil
    }

    /// Returns the @ of a password with a space or quote in it, where `url` is what precedes that.
    private static func userInformationEnd(
        beyond url: ArraySlice<UInt8>, in rest: ArraySlice<UInt8>, endsURL: (UInt8) -> Bool
    ) -> Int? {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), !url.contains(UInt8(ascii: "/")),
            !url[(colon + 1)...].allSatisfy(\.isASCIIDigit) || url.endIndex == colon + 1
        else { return nil }
        let line = rest.prefix { !"\n\r".utf8.contains($0) }
        // Text that is a single URI may continue after the end of its first line.
        guard url.endIndex <= line.endIndex else { return nil }
        let more = line[url.endIndex...]
        let tail = more[..<(more.firstRange(ofBytes: "//".utf8)?.lowerBound ?? more.endIndex)]
        guard let first = tail.firstIndex(of: UInt8(ascii: "@")) else { return nil }
        return tail[first...].prefix { !endsURL($0) }.lastIndex(of: UInt8(ascii: "@"))
    }

    /// Masks what precedes the @ of a relay: `turn:user:password@host` has no slashes, and no place for either.
    private static func redactRelayUsers(_ text: [UInt8], endsURL: (UInt8) -> Bool) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        while let word = rest.firstRange(ofBytes: "turn".utf8) {
            result += rest[..<word.upperBound]
            rest = rest[word.upperBound...]
            let colon = rest.prefix(2)
            guard colon.elementsEqual("s:".utf8) || colon.first == UInt8(ascii: ":") else { continue }
            let place = rest.prefix { $0 != UInt8(ascii: "&") && !endsURL($0) }
            let begin = colon.first == UInt8(ascii: "s") ? place.startIndex + 2 : place.startIndex + 1
            guard !place[begin...].starts(with: "//".utf8), let at = place.lastIndex(of: UInt8(ascii: "@")) else {
                continue
            }
            result += rest[..<begin] + mark.utf8
            rest = rest[at...]
        }
        return result + rest
    }

    // MARK: RTMP

    /// Masks what follows the application's name in an RTMP URL: the key that lets its owner publish.
    private static func redactStreamKeys(_ text: [UInt8], endsURL: (UInt8) -> Bool) -> [UInt8] {
        var result: [UInt8] = []
        var rest = text[...]
        while let slashes = rest.firstRange(ofBytes: "://".utf8) {
            let scheme = rest[..<slashes.lowerBound].reversed().prefix(while: \.isASCIILetter).reversed().map(
                \.lowercasedASCII)
            result += rest[..<slashes.upperBound]
            rest = rest[slashes.upperBound...]
            guard scheme.starts(with: "rtmp".utf8) else { continue }
            let path = rest.prefix { !endsURL($0) && $0 != UInt8(ascii: "?") }
            let parts = path.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, !parts[2].isEmpty else { continue }
            result += rest[..<parts[2].startIndex] + mark.utf8
            rest = rest[parts[2].endIndex...]
        }
        return result + rest
    }

    // MARK: Commands and headers

    /// Masks the values of a command's options: the word after `--name`, and a value assigned to a name at the start of
    /// a word.
    private static func redactOptions(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(where: { "=-".utf8.contains($0) }) else { return text }
        var result: [UInt8] = []
        var rest = text[...]
        var isValueOfSecret = false
        while !rest.isEmpty {
            let space = rest.prefix(while: isSpace)
            result += space
            rest = rest[space.endIndex...]
            let word = commandWord(rest)
            rest = rest[word.endIndex...]
            // The scheme of a URI may precede the first name.
            let name = word.prefix { $0 != UInt8(ascii: "=") }.split(separator: UInt8(ascii: ":")).last ?? []
            let isSecretName =
                name.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 >= 0x80 || "-_".utf8.contains($0) }
                && isSecret(name.drop { $0 == UInt8(ascii: "-") })
            if isValueOfSecret, word.first != UInt8(ascii: "-") {
                result += mark.utf8
            } else if isSecretName, let equals = word.firstIndex(of: UInt8(ascii: "=")) {
                result += word[...equals] + mark.utf8
            } else {
                result += word
            }
            isValueOfSecret = isSecretName && word.starts(with: "--".utf8) && !word.contains(UInt8(ascii: "="))
        }
        return result
    }

    /// Returns the text up to the next space that is not in quotes; up to the next space at all if a quote is not
    /// closed.
    private static func commandWord(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var quote: UInt8?
        for index in text.indices {
            let byte = text[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if isSpace(byte) {
                return text[..<index]
            }
        }
        return quote == nil ? text : text.prefix { !isSpace($0) }
    }

    private static func redactHeaders(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(UInt8(ascii: ":")) else { return text }
        var result: [UInt8] = []
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if !result.isEmpty || line.startIndex > text.startIndex { result.append(UInt8(ascii: "\n")) }
            let lower = line.map(\.lowercasedASCII)
            let name = ["authorization:", "cookie:"].compactMap { lower.firstRange(ofBytes: $0.utf8) }
                .min { $0.lowerBound < $1.lowerBound }
            guard let name, name.upperBound < lower.count else {
                result += line
                continue
            }
            result += line.prefix(name.upperBound) + " \(mark)".utf8
        }
        return result
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }
}

extension BidirectionalCollection<UInt8> {
    /// Returns the first range of the given bytes.
    func firstRange(ofBytes bytes: some Collection<UInt8>) -> Range<Index>? {
        guard let first = bytes.first else { return nil }
        var start = startIndex
        while let found = self[start...].firstIndex(of: first) {
            if self[found...].starts(with: bytes) { return found..<index(found, offsetBy: bytes.count) }
            start = index(after: found)
        }
        return nil
    }
}
