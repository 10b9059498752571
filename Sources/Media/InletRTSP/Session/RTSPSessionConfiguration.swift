import InletCore

/// The configuration with which an ``RTSPSession`` opens and keeps a stream.
package struct RTSPSessionConfiguration: Sendable {
    /// A way in which the packets may travel.
    package enum Transport: Sendable, Equatable, CaseIterable {
        /// Interleaved in the RTSP connection.
        case tcp
        /// Datagrams to this client.
        case udp
        /// Datagrams to a group.
        case multicast
    }

    /// The servers to which credentials are sent after a redirect.
    package enum RedirectCredentials: Sendable, Equatable {
        /// To the protocol, host and port they were given for, and to no other.
        case sameOrigin
        /// To any host that the server names.
        case anyHost
    }

    /// The address, with or without credentials.
    package var url: RTSPURL
    /// The credentials; nil means those of the address.
    package var credentials: RTSPCredentials?
    /// The transports in the order in which they are tried. The default is only TCP.
    package var transports: [Transport] = [.tcp]
    /// The video to play. The default is the first.
    package var video = SDP.VideoChoice.first
    /// The `User-Agent`. Some cameras refuse requests without one.
    package var userAgent = "Inlet"
    /// The time that the server may take for each answer. The default is 5 s.
    package var responseTimeout = Duration.seconds(5)
    /// The time for which ``RTSPSession/Event/close`` waits for the server's answer. The default is 150 ms.
    package var closeTimeout = Duration.milliseconds(150)
    /// The most redirects that are followed in a row. The default is 8.
    package var mostRedirects = 8
    /// The servers to which credentials are sent after a redirect. The default is the same protocol, host and port
    /// only.
    package var redirectCredentials = RedirectCredentials.sameOrigin
    /// When Basic, which sends the password readably, may be used. The default is always.
    package var basic = RTSPAuthentication.BasicPolicy.allowed
    /// The facts about keep-alives learnt in an earlier session with this server. Empty by default.
    package var keepAlive = KeepAliveMemory()
    /// Facts about the server's Digest from an earlier session; empty by default.
    package var authentication = RTSPAuthentication.Memory()
    /// Whether each connection begins with OPTIONS, which an earlier session with this server needed. The default is
    /// false.
    package var beginsWithOptions = false
    /// The client's nonce for Digest. The default, nil, means a random one.
    package var clientNonce: [UInt8]?

    package init(url: RTSPURL) { self.url = url }
}

extension RTSPSessionConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The configuration as a log may show it, without any secret.
    package var description: String { "RTSP session with \(url), transports \(transports)" }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since `dump` would show the bytes of secrets.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
