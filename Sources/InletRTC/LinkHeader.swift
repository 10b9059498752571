/// `Link` headers that name ICE servers (RFC 9725, 4.6).
public enum LinkHeader {
    /// `<turn:host:port>; rel="ice-server"; username="..."; credential="..."; credential-type="password"`
    public static func text(_ server: ICEServer) -> String {
        var text = "<\(server.uri)>; rel=\"ice-server\""
        if let user = server.user, let password = server.password {
            text += "; username=\(quoted(user)); credential=\(quoted(password)); credential-type=\"password\""
        }
        return text
    }

    /// The ICE servers that a header names. What is not understood is left out, as further kinds of links may be there.
    public static func servers(in header: String) -> [ICEServer] {
        items(of: header, separator: ",").compactMap { item in
            let parts = items(of: item, separator: ";")
            guard let target = parts.first, target.hasPrefix("<"), target.hasSuffix(">") else { return nil }
            var values: [String: String] = [:]
            for part in parts.dropFirst() {
                let pair = part.split(separator: "=", maxSplits: 1)
                if pair.count == 2 { values[pair[0].lowercased()] = unquoted(pair[1]) }
            }
            guard (values["rel"] ?? "").split(separator: " ").contains("ice-server") else { return nil }
            return try? ICEServer(
                String(target.dropFirst().dropLast()), user: values["username"], password: values["credential"])
        }
    }

    /// The parts between separators that are neither in quotes nor in angle brackets, without spaces around them.
    private static func items(of text: String, separator: Character) -> [String] {
        var items: [String] = []
        var item = ""
        var (isQuoted, isEscaped, isTarget) = (false, false, false)
        for character in text {
            if character == separator, !isQuoted, !isTarget {
                items.append(item)
                item = ""
                continue
            }
            item.append(character)
            if isEscaped {
                isEscaped = false
            } else if isQuoted {
                if character == "\\" { isEscaped = true } else if character == "\"" { isQuoted = false }
            } else if character == "\"" {
                isQuoted = true
            } else if character == "<" || character == ">" {
                isTarget = character == "<"
            }
        }
        items.append(item)
        return items.map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.map { "\\\"".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
        var (result, isEscaped) = ("", false)
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }
}
