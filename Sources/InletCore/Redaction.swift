/// Takes credentials out of text that people or logs will see.
public enum Redaction {
    /// What stands in place of a secret.
    public static let mark = "***"

    /// Words that make an option or query parameter a secret when its name contains one of them.
    static let secretWords = [
        "password", "passwd", "pwd", "secret", "token", "apikey", "api_key", "api-key", "auth", "signature",
    ]

    /// The text with the user information of every `//user:password@host` and the value of every secret parameter
    /// (`name=value` after `?`, `&` or `;`) replaced by ``mark``.
    ///
    /// A password may hold any character, a slash or an @ included: everything up to the last @ before a space or quote that
    /// can still belong to the authority is taken for user information.
    public static func redact(_ text: String) -> String {
        redactParameters(redactUserInformation(text))
    }

    private static func redactUserInformation(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let slashes = rest.firstRange(of: "//") {
            result += rest[..<slashes.upperBound]
            rest = rest[slashes.upperBound...]
            let end = rest.firstIndex { " \t\n\"'<>".contains($0) } ?? rest.endIndex
            let url = rest[..<end]
            // An @ after the first ? may belong to a query; one before it ends the user information, slashes or not.
            let authority = url[..<(url.firstIndex(of: "?") ?? url.endIndex)]
            if let at = authority.lastIndex(of: "@") ?? secretAt(in: url) {
                result += mark
                rest = rest[at...]
            }
        }
        return result + rest
    }

    /// The @ of user information that itself holds a question mark, as in `//admin:what?@host/`.
    private static func secretAt(in url: Substring) -> Substring.Index? {
        guard let question = url.firstIndex(of: "?"), let colon = url.firstIndex(of: ":"), colon < question,
            !url[..<question].contains("/"), let at = url.lastIndex(of: "@")
        else { return nil }
        return at
    }

    private static func redactParameters(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(where: { "?&;".contains($0) }) {
            let afterMark = rest.index(after: start)
            result += rest[..<afterMark]
            rest = rest[afterMark...]
            let end = rest.firstIndex { "&; \t\n\"'".contains($0) } ?? rest.endIndex
            if let equals = rest[..<end].firstIndex(of: "=") {
                let name = rest[..<equals].lowercased()
                if secretWords.contains(where: { name.contains($0) }), !name.hasSuffix("-file"), !name.hasSuffix("-env")
                {
                    result += rest[...equals] + mark
                    rest = rest[end...]
                }
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
