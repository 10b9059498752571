import InletCore

/// The `Public` header (RFC 2326, section 12.28): the methods that a server knows.
package enum PublicHeader {
    /// Returns the methods that all values of the header name and this client knows.
    package static func methods(in values: [[UInt8]]) -> Set<RTSPMethod> {
        var methods: Set<RTSPMethod> = []
        for value in values {
            for word in HeaderText.split(value, at: ",", limit: 64) {
                let name = String(decoding: word, as: UTF8.self).uppercasedASCII
                if let method = RTSPMethod(rawValue: name) { methods.insert(method) }
            }
        }
        return methods
    }
}
