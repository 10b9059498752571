import InletCore

/// `Link` headers that name ICE servers (RFC 9725, 4.6).
package enum LinkHeader {
    /// Returns `<turn:host:port>; rel="ice-server"; username="..."; credential="..."; credential-type="password"`.
    package static func text(_ server: ICEServer) -> String {
        var text = "<\(server.uri)>; rel=\"ice-server\""
        if let user = server.user, let password = server.password {
            text += "; username=\(quoted(user)); credential=\(quoted(password)); credential-type=\"password\""
        }
        return text
    }

    /// Returns the ICE servers that a header names. Unknown kinds of links are skipped.
    package static func servers(in header: String) -> [ICEServer] {
        items(of: Array(header.utf8), separator: UInt8(ascii: ",")).compactMap { item in
            let parts = items(of: item, separator: UInt8(ascii: ";"))
            guard let target = parts.first, target.first == UInt8(ascii: "<"), target.last == UInt8(ascii: ">") else {
                return nil
            }
            var values: [[UInt8]: String] = [:]
            for part in parts.dropFirst() {
                let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1)
                if pair.count == 2 {
                    values[TextBytes.lowercased(pair[0])] = String(decoding: unquoted(pair[1]), as: UTF8.self)
                }
            }
            func value(_ name: String) -> String? { values[Array(name.utf8)] }
            let relations = (value("rel") ?? "").utf8.split(separator: UInt8(ascii: " "))
            guard relations.contains(where: { $0.elementsEqual("ice-server".utf8) }) else { return nil }
            return try? ICEServer(
                String(decoding: target.dropFirst().dropLast(), as: UTF8.self), user: value("username"),
                password: value("credential"))
        }
    }

    /// Returns the parts between separators that are outside quotes and angle brackets, trimmed.
    private static func items(of text: [UInt8], separator: UInt8) -> [[UInt8]] {
        var items: [[UInt8]] = []
        var item: [UInt8] = []
        var (isQuoted, isEscaped, isTarget) = (false, false, false)
        for byte in text {
            if byte == separator, !isQuoted, !isTarget {
                items.append(item)
                item = []
                continue
            }
            item.append(byte)
            if isEscaped {
                isEscaped = false
            } else if isQuoted {
                if byte == backslash { isEscaped = true } else if byte == quote { isQuoted = false }
            } else if byte == quote {
                isQuoted = true
            } else if byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") {
                isTarget = byte == UInt8(ascii: "<")
            }
        }
        items.append(item)
        return items.map { Array(TextBytes.trimmed($0)) }
    }

    private static var quote: UInt8 { UInt8(ascii: "\"") }
    private static var backslash: UInt8 { UInt8(ascii: "\\") }

    private static func quoted(_ text: String) -> String {
        let inner = text.utf8.flatMap { $0 == quote || $0 == backslash ? [backslash, $0] : [$0] }
        return String(decoding: [quote] + inner + [quote], as: UTF8.self)
    }

    private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.count >= 2, text.first == quote, text.last == quote else { return Array(text) }
        var (result, isEscaped) = ([UInt8](), false)
        for byte in text.dropFirst().dropLast() {
            if byte == backslash, !isEscaped {
                isEscaped = true
            } else {
                result.append(byte)
                isEscaped = false
            }
        }
        return result
    }
}
