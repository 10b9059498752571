import Glibc

// Unsafe: reads the address list of `getaddrinfo`.
/// Asks the system for the addresses of a host.
package enum HostLookup {
    /// Returns the addresses, in the order in which to try them; empty if the host is unknown. May block for as long as
    /// the name service does.
    ///
    /// - Parameter host: a name or a numeric address. IPv6 addresses have no brackets; link-local ones are followed by
    ///   `%` and the name of an interface.
    package static func addresses(of host: String) -> [IPAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let socket = unsafe entry.pointee.ai_addr,
                let address = unsafe IPAddress(family: entry.pointee.ai_family, socket: socket)
            {
                found.append(address)
            }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }
}

extension IPAddress {
    /// - Parameters:
    ///   - family: the family of the socket address.
    ///   - socket: a `sockaddr_in` or `sockaddr_in6`, according to the family.
    /// - Returns: nil for another family.
    @unsafe package init?(family: Int32, socket: UnsafeRawPointer) {
        // In a `sockaddr_in` the address begins at the fourth byte, in a `sockaddr_in6` at the eighth, followed by the
        // zone (ip(7), ipv6(7)).
        switch family {
        case AF_INET: unsafe self.init(bytes: UnsafeRawBufferPointer(start: socket + 4, count: 4))
        case AF_INET6:
            unsafe self.init(bytes: UnsafeRawBufferPointer(start: socket + 8, count: 16))
            unsafe zone = socket.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
        default: return nil
        }
    }

    /// - Parameter literal: a numeric address, IPv6 without brackets.
    /// - Returns: nil for anything else, such as a name.
    package init?(literal: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, literal, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4))
        } else if unsafe inet_pton(AF_INET6, literal, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// The numeric address in the form for URLs: IPv6 in brackets.
    package var inURL: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        let digits = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return bytes.count == 4 ? digits : "[\(digits)]"
    }
}
