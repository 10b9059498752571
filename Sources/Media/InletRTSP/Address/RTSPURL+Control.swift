import InletCore

/// Makes the addresses of a session from the server's answers (RFC 2326, appendix C.1.1).
extension RTSPURL {
    /// Returns the base of relative addresses: `Content-Base`, `Content-Location` or the address of the request.
    ///
    /// Host, port and scheme remain those of the connection: cameras behind a router name unreachable addresses, and no
    /// answer may direct the client to another host. An absolute `a=control` of the session goes before all.
    package func base(
        contentBase: [UInt8]?, contentLocation: [UInt8]?, sessionControl: [UInt8]? = nil
    ) -> RTSPURL {
        if let sessionControl, Self.isAbsolute(sessionControl), let url = RTSPURL(lenient: sessionControl) {
            return with(path: url.path)
        }
        for text in [contentBase, contentLocation] {
            guard let text = text.map({ Array(TextBytes.trimmed($0)) }), !text.isEmpty else { continue }
            if text.first == UInt8(ascii: "/") { return with(path: text) }
            // Without a scheme, text is an address only if it has a port or is the host itself; otherwise it is a
            // relative path.
            let authority = text.prefix { $0 != UInt8(ascii: "/") }
            guard
                Self.isAbsolute(text) || authority.contains(UInt8(ascii: ":"))
                    || TextBytes.lowercased(authority) == TextBytes.lowercased(host)
            else { continue }
            if let url = RTSPURL(lenient: text) { return with(path: url.path) }
        }
        return self
    }

    /// Returns the address of PLAY, PAUSE, TEARDOWN and keep-alives, seen from the base: the session's `a=control`.
    package func aggregate(control: [UInt8]?) -> RTSPURL {
        guard let control, !Self.isBase(control) else { return self }
        return candidates(forControl: control).first ?? self
    }

    /// Returns the addresses that a media's `a=control` may mean, seen from the base, the likeliest first.
    ///
    /// Most servers and clients append the text to the base, even after a query; few resolve it by RFC 3986, section
    /// 5.2, and that is the second candidate.
    package func candidates(forControl control: [UInt8]?) -> [RTSPURL] {
        guard let control, !Self.isBase(control) else { return [self] }
        if Self.isAbsolute(control) {
            return [RTSPURL(lenient: control).map { with(path: $0.path) } ?? self]
        }
        let appended = with(path: Self.append(control, to: path))
        let resolved = with(path: Self.resolve(control, from: path))
        return appended == resolved ? [appended] : [appended, resolved]
    }

    /// Returns the target of a redirect; nil if it cannot be read.
    ///
    /// A link-local address has the zone of this one: the server does not know the names of this machine's interfaces.
    package func redirected(to location: [UInt8]) -> RTSPURL? {
        let text = Array(TextBytes.trimmed(location))
        guard !text.isEmpty else { return nil }
        if text.first == UInt8(ascii: "/") { return with(path: text) }
        guard var target = RTSPURL(lenient: text) else { return nil }
        target.zone = target.isLinkLocal ? zone : []
        return target
    }

    /// Whether the host is in fe80::/10 (RFC 4291, section 2.5.6).
    var isLinkLocal: Bool {
        let start = TextBytes.lowercased(host.prefix(3))
        return host.contains(UInt8(ascii: ":")) && start.starts(with: "fe".utf8)
            && "89ab".utf8.contains(start.last ?? 0)
    }

    private static func isBase(_ control: [UInt8]) -> Bool { control.isEmpty || control.elementsEqual("*".utf8) }

    private static func append(_ control: [UInt8], to path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        if control.first == UInt8(ascii: "?") { return path + control }
        if control.first == slash { return (path.last == slash ? path.dropLast() : path[...]) + control }
        return path.last == slash ? path + control : path + [slash] + control
    }

    private static func resolve(_ control: [UInt8], from path: [UInt8]) -> [UInt8] {
        let bare = path.prefix { $0 != UInt8(ascii: "?") }
        if control.first == UInt8(ascii: "?") { return bare + control }
        let query = control.firstIndex(of: UInt8(ascii: "?")) ?? control.endIndex
        var segments: [ArraySlice<UInt8>] = []
        if control.first != UInt8(ascii: "/") {
            segments = bare.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropLast()
        }
        let text = control[..<query].first == UInt8(ascii: "/") ? control[..<query].dropFirst() : control[..<query]
        for segment in text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if segment.elementsEqual("..".utf8) {
                _ = segments.popLast()
            } else if !segment.elementsEqual(".".utf8) {
                segments.append(segment)
            }
        }
        return segments.flatMap { [UInt8(ascii: "/")] + $0 } + control[query...]
    }
}
