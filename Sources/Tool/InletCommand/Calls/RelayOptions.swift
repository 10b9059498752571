#if GStreamer
import ArgumentParser
import Inlet

/// The STUN and TURN servers of a call, in addition to those that the room names. The option names are those of
/// `webrtc:`.
struct RelayOptions: ParsableArguments {
    @OptionGroup var given: ICEServerOptions

    @Option(
        name: .customLong("turn-tls-ca"),
        help: "A PEM file of certificate authorities for relays with turns:. The default is the system's.")
    var authorities: String?

    @Option(name: .customLong("turn-tls-verify"), help: "Whether the certificates of relays are checked.")
    var isVerified = true

    @Flag(help: "Always send and receive pictures through a relay: one given here, or one of the room's.")
    var relayOnly = false

    /// Returns the servers, with the secrets read from their files or variables.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if an address is invalid or a secret cannot be read.
    func servers() throws(InletError) -> ICEServers {
        var servers = try given.servers()
        (servers.tls.authorities, servers.tls.isVerified) = (authorities, isVerified)
        servers.isRelayOnly = relayOnly
        return servers
    }
}
#endif
