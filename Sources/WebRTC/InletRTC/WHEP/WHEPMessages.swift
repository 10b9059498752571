import InletCore

/// The parts of an HTTP request that WHEP and WHIP need.
package struct WHEPRequest: Sendable, Hashable {
    /// The method, in upper case.
    package var method: String
    /// The path without the query.
    package var path: String
    /// The headers, with names in lower case.
    package var headers: [String: String]
    /// The stated length of the body; nil if none is stated.
    package var length: Int?
    /// The body, once it was read.
    package var body: String
    /// The name that the client gives itself; nil if it gives none.
    package var clientName: String?

    package init(method: String, path: String, headers: [String: String] = [:], length: Int? = nil, body: String = "") {
        self.method = method
        self.path = path
        self.headers = headers
        self.length = length
        self.body = body
    }

    /// Returns whether the body has a media type, with any parameters.
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

/// An HTTP response.
package struct WHEPResponse: Sendable, Hashable {
    /// The status code.
    package var status: Int
    /// The headers, with names in lower case. `link` may occur more than once.
    package var headers: [Header]
    /// The body.
    package var body: String

    /// A header line.
    package struct Header: Sendable, Hashable {
        /// The name, in lower case.
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

    /// Returns a refusal, with a sentence for users.
    package static func refusal(_ status: Int, _ sentence: String, _ headers: [Header] = []) -> WHEPResponse {
        WHEPResponse(
            status: status, headers: [Header("content-type", "text/plain; charset=utf-8")] + headers,
            body: sentence + "\n")
    }

    /// Returns the first value of a header; nil if it is missing.
    package func value(of name: String) -> String? { headers.first { $0.name == name }?.value }
}
