package import InletCore
import NIOCore

/// How a server works behind a reverse proxy.
package struct ProxyRule: Sendable, Hashable {
    /// The path below which a proxy that does not remove it serves the pages, such as `/cams`. The default is empty.
    package var basePath = ""
    /// The proxies whose statement of a client's address is believed. By default no proxy is trusted.
    package var trusted: [Network] = []

    package init() {}

    /// A network of addresses, such as `10.0.0.0/8` or one address.
    package struct Network: Sendable, Hashable {
        private let host: HostAddress
        private let length: Int

        /// - Throws: ``InletError/Code/invalidConfiguration`` if the text is not an address with an optional length of
        ///   its prefix in bits.
        package init(_ text: String) throws(InletError) {
            let parts = text.split(atByte: "/", limit: 1)
            guard let host = HostAddress(String(parts[0])),
                case let most = host.bytes.count * 8,
                let length = parts.count > 1 ? TextBytes.number(parts[1].utf8, upTo: most) : most
            else {
                throw InletError(
                    .invalidConfiguration,
                    "'\(text.sanitized(limit: 80))' is not a network. Write an address, or a network such as "
                        + "10.0.0.0/8 or fd00::/8.")
            }
            (self.host, self.length) = (host, length)
        }

        fileprivate func contains(_ other: HostAddress) -> Bool {
            guard other.bytes.count == host.bytes.count else { return false }
            return (0..<length).allSatisfy { bit in
                (host.bytes[bit / 8] ^ other.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }

    private func trusts(_ host: HostAddress?) -> Bool {
        host.map { host in trusted.contains { $0.contains(host) } } ?? false
    }

    /// Returns whether an address is that of a trusted proxy.
    func trusts(_ address: SocketAddress?) -> Bool { !trusted.isEmpty && trusts(HostAddress(address)) }

    /// Returns the client of a request: the last address of `X-Forwarded-For` or `Forwarded` (RFC 7239, 5.2) that is
    /// not a trusted proxy's, if a trusted proxy sent the request.
    func client(of request: HTTPRequest, from peer: SocketAddress?) -> ClientAddress {
        var client = ClientAddress(peer)
        guard trusts(peer) else { return client }
        for text in request.forwardedAddresses.reversed() {
            guard let host = HostAddress(text) else { break }
            client = ClientAddress(host: host)
            if !trusts(host) { break }
        }
        return client
    }

    /// Returns the path below which the proxy serves the pages, and the request's path without it. A client that states
    /// another path changes only what it is sent.
    func paths(of target: String, stated: String?) -> (prefix: String, path: String) {
        if !basePath.isEmpty, target.hasBytePrefix(basePath) {
            let rest = target.utf8.dropFirst(basePath.utf8.count)
            if rest.isEmpty || rest.first == UInt8(ascii: "/") { return (basePath, String(Substring(rest))) }
        }
        return (stated.flatMap(Self.prefix) ?? "", target)
    }

    /// Returns a path without the slash at its end; nil if it is not a path that can be put before others.
    package static func prefix(_ text: String) -> String? {
        let path = text.hasByteSuffix("/") ? String(text.dropLast()) : text
        let isPath = path.utf8.allSatisfy { byte in
            byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || "-._~/".utf8.contains(byte)
        }
        if path.isEmpty, text == "/" { return "" }
        // Two slashes would begin the name of a host.
        guard isPath, path.utf8.count <= 200, path.hasBytePrefix("/"), path.firstRange(ofBytes: "//") == nil else {
            return nil
        }
        return path
    }
}
