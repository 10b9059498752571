import InletCore
import InletFFmpeg
import Synchronization

/// Where a server leads, and what may go along.
enum NetworkRedirect {
    /// More in a row are a circle.
    static let most = 8

    /// - Parameters:
    ///   - address: of the server that leads on.
    ///   - target: where it leads, as it said.
    ///   - protocols: those that an opening may be led to.
    /// - Returns: the address that it leads to, without credentials of its own, and whether those for `address` may go
    ///   there: only to the same protocol, host and port.
    /// - Throws: ``InletError/Code/tlsFailed`` for a step from TLS to plain text; ``InletError/Code/malformedData`` for
    ///   what is no address of these protocols.
    static func follow(
        from address: NetworkAddress, to target: String, protocols: Set<String>
    ) throws(InletError) -> (address: NetworkAddress, keepsCredentials: Bool) {
        let scheme = target.prefix(upToByte: ":").lowercasedASCII
        if address.scheme.isSecure, !scheme.isSecure, protocols.union(["http", "rtsp"]).contains(scheme) {
            throw InletError(
                .tlsFailed,
                "The server leads from \(address.scheme) to \(scheme), where others can read and change the stream.")
        }
        guard protocols.contains(scheme), target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            let found = try? NetworkAddress(target), let origin = found.origin,
            let next = try? NetworkAddress(found.withoutCredentials)
        else {
            throw InletError(
                .malformedData,
                "The server leads to something that a network stream may not open, such as a file of this machine: "
                    + Redaction.redact(uri: target).sanitized(limit: 200)
            )
        }
        return (next, origin == address.origin)
    }
}

extension NetworkRedirect {
    /// The error for more than ``most`` redirects in a row.
    static let endless = InletError(.malformedData, "The server leads on and on, and never to a stream.")

    /// The error where a server asks for credentials that were meant for the one that led to it.
    static let strangersRefusal = InletError(
        .authenticationFailed,
        "The server leads to another one, which wants credentials. They are not sent there: give that server's address "
            + "instead.")
}

/// The places to which an RTSP server leads, each checked before a connection is made to it.
///
/// The space of the first server is told by its name once more, as libavformat does not say to which address it has
/// connected.
final class RedirectPlaces: Sendable {
    private let policy: AddressPolicy
    /// The most public of the addresses so far.
    private let leader = Mutex(IPAddress?.none)

    init(_ policy: AddressPolicy) { self.policy = policy }

    /// Asks the name service for the host and checks what it says.
    ///
    /// - Parameters:
    ///   - place: without credentials.
    ///   - from: the server that leads there.
    /// - Returns: the place by each of its addresses in digits that it may lead to, in the order in which they are to
    ///   be tried, so that a second answer of the name service changes nothing. With TLS, which checks names, it is the
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
        // Whichever of them answers.
        leader.withLock { [leads] in $0 = (allowed + [leads].compactMap(\.self)).min { $0.space < $1.space } }
        guard !place.scheme.isSecure else { return [place] }
        var places: [NetworkAddress] = []
        for address in allowed { places.append(try place.at(address)) }
        return places
    }

    /// Returns those of some addresses to which a server may lead, IPv4 first, as most cameras speak nothing else, and
    /// otherwise in their order.
    ///
    /// - Parameter leader: the server's; nil where it is not known, and leads nowhere.
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
            throw InletError(.hostNotFound, "The name service does not know the host that the server leads to.")
        }
        return found
    }
}

extension NetworkAddress {
    /// The same place by an address in digits.
    fileprivate func at(_ address: IPAddress) throws(InletError) -> NetworkAddress {
        let port = origin?.port.map { ":\($0)" } ?? ""
        let path = location.dropFirst(location.prefix(whileByte: { !"/?#".utf8.contains($0) }).count)
        return try NetworkAddress("\(scheme)://\(address.inURL)\(port)\(path)")
    }
}

extension String {
    /// Whether it is a protocol that goes over TLS.
    fileprivate var isSecure: Bool { ["https", "rtmps", "rtsps", "tls"].contains(self) }
}
