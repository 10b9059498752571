import InletCore
import InletHTTP

extension HTTPRequest {
    /// Whether a browser sends the request for a page of another site. Pages may send some requests anywhere without
    /// asking first; browsers say where these come from (Fetch Metadata, and RFC 6454).
    var isCrossSite: Bool {
        if let site = header("sec-fetch-site") { return site != "same-origin" && site != "none" }
        guard let origin = header("origin") else { return false }
        guard let range = origin.firstRange(ofBytes: "://") else { return true }
        // A proxy may replace the host. Pages of other sites cannot state the original one without asking first.
        let hosts = [header("host"), header("x-forwarded-host")].compactMap(\.self)
        return !hosts.contains { origin[range.upperBound...].isSameBytes(as: $0) }
    }

    /// Whether the body is said to be JSON. Pages of other sites cannot say so without asking first.
    var isJSON: Bool {
        guard let type = header("content-type")?.utf8 else { return false }
        return TextBytes.isSame(
            TextBytes.trimmed(type.prefix { $0 != UInt8(ascii: ";") }), ignoringCase: "application/json")
    }

    /// Whether the query asks to say only what would be done; nil if it says so in another way than by `true` or
    /// `false`, as a change that was only to be tried must not be made.
    var isTrial: Bool? {
        guard hasQueryItem("dry-run") else { return false }
        guard let value = queryValue(of: "dry-run") else { return nil }
        if value.elementsEqual("true".utf8) { return true }
        return value.elementsEqual("false".utf8) ? false : nil
    }
}
