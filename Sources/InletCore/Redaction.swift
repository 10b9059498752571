/// Takes credentials out of text that people or logs will see.
///
/// Where a text can be read in two ways, the reading that hides more is taken.
public enum Redaction {
    /// What stands in place of a secret.
    public static let mark = "***"

    /// Words that make an option or query parameter a secret when its name contains one of them.
    private static let secretWords = [
        "password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "api_key", "api-key", "auth",
        "signature", "credential", "loginpas", "decryption_key", "activation_bytes", "audible",
    ]
    /// Names of secrets that are too short to look for inside other names.
    private static let secretNames: Set<String> = ["pass", "pw", "psw", "key", "sig"]

    /// The text with the user information of every `//user:password@host`, the stream key of every RTMP URL, the value of every secret parameter (`name=value` after `?`, `&` or
    /// `;`) and the value of every secret option of a command (`--name value`, `--name=value`, `NAME=value`) replaced by ``mark``.
    ///
    /// A password may hold any character, a slash or an @ included: everything up to the last @ before a space or quote that
    /// can still belong to the authority is taken for user information.
    public static func redact(_ text: String) -> String {
        redact(text) { " \t\n\r\"'<>".contains($0) }
    }

    /// The same for a text that is one URI and nothing else, so that a space or quote does not end it.
    public static func redact(uri: String) -> String {
        redact(uri) { _ in false }
    }

    /// Whether an option or query parameter of this name holds a secret. One that names where the secret is kept, such as
    /// `password-file`, does not.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        var name = unescaped(name).lowercased()
        for prefix in ["query.", "ffmpeg."] where name.hasPrefix(prefix) { name.removeFirst(prefix.count) }
        return secretNames.contains(name)
            || (secretWords.contains { name.contains($0) } && !name.hasSuffix("-file") && !name.hasSuffix("-env"))
    }

    /// With `%XX` read as the byte XX, as far as that can be done.
    private static func unescaped(_ name: some StringProtocol) -> String {
        guard name.contains("%") else { return String(name) }
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard byte == UInt8(ascii: "%"), digits.count == 2 else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(digits[0] << 4 | digits[1]))
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func redact(_ text: String, endsURL: (Character) -> Bool) -> String {
        let withoutUser = redactRelayUsers(redactUserInformation(text, endsURL: endsURL), endsURL: endsURL)
        return redactOptions(redactParameters(redactStreamKeys(withoutUser, endsURL: endsURL), endsURL: endsURL))
    }

    /// Blots out what follows the application's name in an RTMP URL: the key that lets its owner publish.
    private static func redactStreamKeys(_ text: String, endsURL: (Character) -> Bool) -> String {
        var result = ""
        var rest = text[...]
        while let slashes = rest.firstRange(of: "://") {
            let scheme = String(rest[..<slashes.lowerBound].reversed().prefix { $0.isLetter }.reversed()).lowercased()
            result += rest[..<slashes.upperBound]
            rest = rest[slashes.upperBound...]
            guard ["rtmp", "rtmps", "rtmpt", "rtmpe"].contains(scheme) else { continue }
            let path = rest.prefix { !endsURL($0) && $0 != "?" && $0 != "&" }
            let parts = path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, !parts[2].isEmpty else { continue }
            result += rest[..<parts[2].startIndex] + mark
            rest = rest[parts[2].endIndex...]
        }
        return result + rest
    }

    /// Blots out what stands before the @ of a relay: `turn:user:password@host` has no slashes, and no place for either.
    private static func redactRelayUsers(_ text: String, endsURL: (Character) -> Bool) -> String {
        var result = ""
        var rest = text[...]
        while let scheme = rest.firstRange(of: "turn:") ?? rest.firstRange(of: "turns:") {
            result += rest[..<scheme.upperBound]
            rest = rest[scheme.upperBound...]
            let place = rest.prefix { !"&".contains($0) && !endsURL($0) }
            guard !place.hasPrefix("//"), let at = place.lastIndex(of: "@") else { continue }
            result += mark
            rest = rest[at...]
        }
        return result + rest
    }

    private static func redactUserInformation(_ text: String, endsURL: (Character) -> Bool) -> String {
        var result = ""
        var rest = text[...]
        while let slashes = rest.firstRange(of: "//") {
            result += rest[..<slashes.upperBound]
            rest = rest[slashes.upperBound...]
            let url = rest.prefix { !endsURL($0) }
            if let at = userInformationEnd(in: url) ?? userInformationEnd(beyond: url, in: rest, endsURL: endsURL) {
                result += mark
                rest = rest[at...]
            }
        }
        return result + rest
    }

    /// The @ that ends the user information, given what follows the `//` of a URL; nil where there is none.
    static func userInformationEnd(in url: Substring) -> Substring.Index? {
        // A colon or an @ before the first ? may have begun a password that holds the ? itself. Without either, an @ behind the
        // ? belongs to an option.
        url.prefix { $0 != "?" }.contains { ":@".contains($0) } ? url.lastIndex(of: "@") : nil
    }

    /// The @ of a password with a space or quote in it, where `url` is what comes before that.
    private static func userInformationEnd(
        beyond url: Substring, in rest: Substring, endsURL: (Character) -> Bool
    ) -> Substring.Index? {
        guard let colon = url.firstIndex(of: ":"), !url.contains("/"),
            !url[url.index(after: colon)...].allSatisfy(\.isNumber) || url.endIndex == url.index(after: colon)
        else { return nil }
        let line = rest.prefix { !$0.isNewline }
        let tail = line[url.endIndex..<(line.firstRange(of: "//")?.lowerBound ?? line.endIndex)]
        guard let first = tail.firstIndex(of: "@") else { return nil }
        return tail[first...].prefix { !endsURL($0) }.lastIndex(of: "@")
    }

    /// Blots out the values of a command's options: what follows `--name`, and what is assigned to a name at the start of a word.
    private static func redactOptions(_ text: String) -> String {
        guard text.contains(where: { $0 == "=" || $0 == "-" }) else { return text }
        var result = ""
        var rest = text[...]
        var isValueOfSecret = false
        while !rest.isEmpty {
            let space = rest.prefix { $0.isWhitespace }
            result += space
            rest = rest[space.endIndex...]
            let word = commandWord(rest)
            rest = rest[word.endIndex...]
            // The scheme of a URI may stand before the first name.
            let name = word.prefix { $0 != "=" }.split(separator: ":").last ?? ""
            let isSecretName =
                name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
                && isSecret(name.drop { $0 == "-" })
            if isValueOfSecret, !word.hasPrefix("-") {
                result += mark
            } else if isSecretName, let equals = word.firstIndex(of: "=") {
                result += word[...equals] + mark
            } else {
                result += word
            }
            isValueOfSecret = isSecretName && word.hasPrefix("--") && !word.contains("=")
        }
        return result
    }

    /// The text up to the next space that is not in quotes; up to the next space at all where a quote is not closed.
    private static func commandWord(_ text: Substring) -> Substring {
        var quote: Character?
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character.isWhitespace {
                return text[..<index]
            }
        }
        return quote == nil ? text : text.prefix { !$0.isWhitespace }
    }

    private static func redactParameters(_ text: String, endsURL: (Character) -> Bool) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(where: { "?&;".contains($0) }) {
            result += rest[...start]
            rest = rest[rest.index(after: start)...]
            let parameter = rest.prefix { !"&;".contains($0) && !endsURL($0) }
            guard let equals = parameter.firstIndex(of: "="), isSecret(parameter[..<equals]) else { continue }
            result += rest[...equals] + mark
            rest = rest[parameter.endIndex...]
            // What follows an & or ; without being a parameter itself is still the secret.
            while let separator = rest.first, "&;".contains(separator) {
                let next = rest.dropFirst().prefix { !"&;".contains($0) && !endsURL($0) }
                guard !next.contains("=") else { break }
                rest = rest[next.endIndex...]
            }
        }
        return result + rest
    }
}

extension Substring {
    fileprivate func firstRange(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
