import InletFFmpeg
import InletNetwork
import InletRTSP

/// Decides which addresses of a server are allowed: those to which the previous servers may redirect, except those
/// that accepted a connection and never answered.
///
/// A value without I/O.
struct ServerAddresses {
    private let policy: AddressPolicy
    /// The most public address of the servers that have redirected; nil if none has.
    private(set) var leader: IPAddress?
    /// The address of the most recently requested connection.
    private var destination: RTSPURL?
    /// The addresses of that host that never answered.
    private var silent: [IPAddress] = []

    init(_ policy: AddressPolicy) { self.policy = policy }

    /// Records the address of the next connection. After several redirects, the most public server decides where the
    /// next one may be. Another connection to the same address is not a redirect.
    ///
    /// - Parameter remote: the address of the previous connection; nil for the first connection.
    mutating func lead(to url: RTSPURL, from remote: IPAddress?) {
        defer { destination = url }
        guard let destination, destination != url else { return }
        if destination.host != url.host { silent = [] }
        if let remote { leader = mostPublic(remote) }
    }

    /// Records that an address accepted a connection but never answered.
    mutating func noteSilence(of address: IPAddress) { silent.append(address) }

    private func mostPublic(_ remote: IPAddress) -> IPAddress {
        guard let leader, leader.space <= remote.space else { return remote }
        return leader
    }

    /// Returns whether a server may have packets sent from another address.
    func allows(sender: IPAddress, of remote: IPAddress) -> Bool {
        sender.space != .multicast && policy.allows(sender, from: mostPublic(remote))
    }

    /// Returns whether connecting to the destination at an address is allowed. The address that the user gave may be
    /// anywhere.
    func allows(_ address: IPAddress) -> Bool {
        !silent.contains(address) && (leader == nil || policy.allows(address, from: leader))
    }
}
