import InletCore

/// A request of HTTP, as far as WHEP and WHIP look at it.
package struct WHEPRequest: Sendable, Hashable {
    /// In capitals.
    package var method: String
    /// Without the query.
    package var path: String
    /// Names in lower case.
    package var headers: [String: String]
    /// What the request says its body has; nil where it does not say.
    package var length: Int?
    /// The body, when it is there.
    package var body: String

    package init(method: String, path: String, headers: [String: String] = [:], length: Int? = nil, body: String = "") {
        self.method = method
        self.path = path
        self.headers = headers
        self.length = length
        self.body = body
    }

    /// Whether its body is of a media type, whatever the parameters.
    func isOfType(_ type: String) -> Bool { ContentType.isSame(headers["content-type"], as: type) }
}

/// Compares the values of `content-type` headers (RFC 9110, 8.3.1).
enum ContentType {
    /// - Parameter type: in lower case.
    static func isSame(_ value: String?, as type: String) -> Bool {
        let given = TextBytes.trimmed((value ?? "").utf8.prefix { $0 != UInt8(ascii: ";") })
        return TextBytes.lowercased(given).elementsEqual(type.utf8)
    }
}

/// An answer of HTTP.
package struct WHEPResponse: Sendable, Hashable {
    /// The status code.
    package var status: Int
    /// Names in lower case. `link` may come more than once.
    package var headers: [Header]
    /// The body.
    package var body: String

    /// A line of the head.
    package struct Header: Sendable, Hashable {
        /// In lower case.
        package var name: String
        /// The rest of the line.
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(status: Int, headers: [Header] = [], body: String = "") {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A refusal, with a sentence for people.
    package static func refusal(_ status: Int, _ sentence: String, _ headers: [Header] = []) -> WHEPResponse {
        WHEPResponse(
            status: status, headers: [Header("content-type", "text/plain; charset=utf-8")] + headers,
            body: sentence + "\n")
    }

    /// The first value of a header; nil where there is none.
    package func value(of name: String) -> String? { headers.first { $0.name == name }?.value }
}
