import InletCore
import InletHTTPServer

extension HTTPRequest {
    /// Whether a browser sends the request for a page of another site. Pages may send some requests to any site without
    /// a preflight request; browsers report the origin of these (Fetch Metadata, and RFC 6454).
    var isCrossSite: Bool {
        if let site = header("sec-fetch-site") { return site != "same-origin" && site != "none" }
        guard let origin = header("origin") else { return false }
        guard let range = origin.firstRange(ofBytes: "://") else { return true }
        // A proxy may replace the host. Pages of other sites cannot set the original host without a preflight request.
        let hosts = [header("host"), header("x-forwarded-host")].compactMap(\.self)
        return !hosts.contains { origin[range.upperBound...].isSameBytes(as: $0) }
    }

    /// Whether the body is declared as JSON. Pages of other sites cannot send this type without a preflight request.
    var isJSON: Bool {
        guard let type = header("content-type")?.utf8 else { return false }
        return TextBytes.isSame(
            TextBytes.trimmed(type.prefix { $0 != UInt8(ascii: ";") }), ignoringCase: "application/json")
    }

    /// Whether the query asks for a dry run. Nil if its value is neither `true` nor `false`, because a change that was
    /// meant as a dry run must not be made.
    var isTrial: Bool? {
        guard hasQueryItem("dry-run") else { return false }
        guard let value = queryValue(of: "dry-run") else { return nil }
        if value.elementsEqual("true".utf8) { return true }
        return value.elementsEqual("false".utf8) ? false : nil
    }
}
