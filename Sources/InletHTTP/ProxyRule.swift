package import InletCore
import NIOCore

/// How a server works behind a reverse proxy.
package struct ProxyRule: Sendable, Hashable {
    /// The path below which a proxy that does not remove it serves the pages, such as `/cams`. The default is empty.
    package var basePath = ""
    /// The proxies whose statement of a client's address is believed. The default is none.
    package var trusted: [Network] = []

    package init() {}

    /// A network of addresses, such as `10.0.0.0/8` or one address.
    package struct Network: Sendable, Hashable {
        private let address: ClientAddress
        private let length: Int

        /// - Throws: ``InletError/Code/invalidConfiguration`` if the text is not an address with an optional length of
        ///   its prefix: up to 32 bits, or up to 64 of IPv6.
        package init(_ text: String) throws(InletError) {
            let parts = text.split(atByte: "/", limit: 1)
            address = ClientAddress(String(parts[0]))
            let most: Int
            switch address {
            case .ipv4: most = 32
            case .ipv6: most = 64
            case .unknown: most = -1
            }
            let given = parts.count > 1 ? TextBytes.number(parts[1].utf8, upTo: 128) : most
            guard let given, (0...max(0, most)).contains(given), most > 0 else {
                throw InletError(
                    .invalidConfiguration,
                    "'\(text.sanitized(limit: 80))' is not a network. Write an address, or one such as 10.0.0.0/8 or "
                        + "fd00::/8, with at most 64 bits of IPv6.")
            }
            length = given
        }

        /// Returns whether an address is in the network.
        func contains(_ other: ClientAddress) -> Bool {
            switch (address, other) {
            case (.ipv4(let own), .ipv4(let other)): own >> (32 - length) == other >> (32 - length)
            case (.ipv6(let own), .ipv6(let other)): own >> (64 - length) == other >> (64 - length)
            default: false
            }
        }
    }

    func trusts(_ address: ClientAddress) -> Bool { trusted.contains { $0.contains(address) } }

    /// Returns the client of a request: the last address of `X-Forwarded-For` or `Forwarded` (RFC 7239, 5.2) that is
    /// not a trusted proxy's, if a trusted proxy sent the request.
    func client(of request: HTTPRequest, from peer: ClientAddress) -> ClientAddress {
        guard trusts(peer) else { return peer }
        var client = peer
        for text in request.forwardedAddresses.reversed() {
            let address = ClientAddress(text)
            guard address != .unknown else { break }
            client = address
            if !trusts(address) { break }
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
