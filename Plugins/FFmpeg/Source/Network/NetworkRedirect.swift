import InletCore
import InletFFmpeg
import InletNetwork
import Synchronization

/// The addresses to which a server may redirect, and the credentials sent there.
enum NetworkRedirect {
    /// The maximum number of consecutive redirects; more are considered a loop.
    static let most = 8

    /// Resolves a redirect.
    ///
    /// - Parameters:
    ///   - address: the server that sent the redirect.
    ///   - target: the target as stated in the redirect.
    ///   - protocols: the permitted protocols.
    /// - Returns: the target address, without its own credentials, and whether those for `address` may be sent there:
    ///   only to the same protocol, host and port.
    /// - Throws: ``InletError/Code/tlsFailed`` for a step from TLS to plain text; ``InletError/Code/malformedData`` if
    ///   the target is not an address with one of these protocols.
    static func follow(
        from address: NetworkAddress, to target: String, protocols: Set<String>
    ) throws(InletError) -> (address: NetworkAddress, keepsCredentials: Bool) {
        let scheme = target.prefix(upToByte: ":").lowercasedASCII
        if address.scheme.isSecure, !scheme.isSecure, protocols.union(["http", "rtsp"]).contains(scheme) {
            throw InletError(
                .tlsFailed,
                "The server redirects from \(address.scheme) to \(scheme), where others can read and change the stream."
            )
        }
        guard protocols.contains(scheme), target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            let found = try? NetworkAddress(target), let origin = found.origin,
            let next = try? NetworkAddress(found.withoutCredentials)
        else {
            throw InletError(
                .malformedData,
                "The server redirects to something that a network stream must not open, such as a local file: "
                    + Redaction.redact(uri: target).sanitized(limit: 200)
            )
        }
        return (next, origin == address.origin)
    }
}

extension NetworkRedirect {
    /// The error for more than ``most`` redirects in a row.
    static let endless = InletError(.malformedData, "The server redirects endlessly. Check the address.")

    /// The error if a server requests credentials that were meant for the server that redirected to it.
    static let strangersRefusal = InletError(
        .authenticationFailed,
        "The server redirects to another one, which requires credentials. They are not sent there: give that server's address "
            + "instead.")
}

/// The places to which an RTSP server redirects. Each is checked before a connection is made to it.
///
/// The first server's address space is determined by a separate look-up of its name, because libavformat does not
/// report the address of its connection.
final class RedirectPlaces: Sendable {
    private let policy: AddressPolicy
    /// The most public address so far.
    private let leader = Mutex(IPAddress?.none)

    init(_ policy: AddressPolicy) { self.policy = policy }

    /// Looks up the host's addresses and checks them.
    ///
    /// - Parameters:
    ///   - place: the redirect's target, without credentials.
    ///   - from: the server that sent the redirect.
    /// - Returns: the place once for each of its permitted addresses, in numeric form and in the order in which to try
    ///   them, so that a second answer of the name service changes nothing. With TLS, which checks names, it is the
    ///   place itself, and all its addresses are checked.
    /// - Throws: ``InletError/Code/addressRefused``, ``InletError/Code/hostNotFound``.
    func check(_ place: NetworkAddress, from: NetworkAddress) throws(InletError) -> [NetworkAddress] {
        guard policy != .allow else { return [place] }
        var leads = leader.withLock { $0 }
        if leads == nil { leads = try Self.addresses(of: from).min { $0.space < $1.space } }
        let found = try Self.addresses(of: place)
        let allowed = Self.allowed(of: found, from: leads, by: policy)
        guard !allowed.isEmpty, !place.scheme.isSecure || allowed.count == found.count else {
            throw AddressPolicy.refusal
        }
        // Any of them may be the one that answers.
        leader.withLock { [leads] in $0 = (allowed + [leads].compactMap(\.self)).min { $0.space < $1.space } }
        guard !place.scheme.isSecure else { return [place] }
        var places: [NetworkAddress] = []
        for address in allowed { places.append(try place.at(address)) }
        return places
    }

    /// Returns the addresses to which a server may redirect: IPv4 first, because most cameras support nothing else,
    /// and otherwise in their order.
    ///
    /// - Parameter leader: the server's address; nil if it is unknown, in which case no address is permitted.
    static func allowed(
        of addresses: [IPAddress], from leader: IPAddress?, by policy: AddressPolicy
    ) -> [IPAddress] {
        guard let leader else { return [] }
        let allowed = addresses.filter { policy.allows($0, from: leader) }
        return allowed.filter { $0.bytes.count == 4 } + allowed.filter { $0.bytes.count != 4 }
    }

    private static func addresses(of place: NetworkAddress) throws(InletError) -> [IPAddress] {
        let host = place.origin?.host ?? ""
        let found = IPAddress(literal: host).map { [$0] } ?? HostLookup.addresses(of: host)
        guard !found.isEmpty else {
            throw InletError(.hostNotFound, "The name service does not know the host to which the server redirects.")
        }
        return found
    }
}

extension NetworkAddress {
    /// Returns the same place with a numeric address.
    fileprivate func at(_ address: IPAddress) throws(InletError) -> NetworkAddress {
        let port = origin?.port.map { ":\($0)" } ?? ""
        let path = location.dropFirst(location.prefix(whileByte: { !"/?#".utf8.contains($0) }).count)
        return try NetworkAddress("\(scheme)://\(address.inURL)\(port)\(path)")
    }
}

extension String {
    /// Whether the protocol uses TLS.
    fileprivate var isSecure: Bool { ["https", "rtmps", "rtsps", "tls"].contains(self) }
}
