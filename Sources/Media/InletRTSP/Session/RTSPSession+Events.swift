package import InletCore

extension RTSPSession {
    /// An event of a session.
    package enum Event: Sendable {
        /// The connection to ``RTSPSession/url`` is open.
        case connected
        /// The connection has ended.
        case disconnected
        /// The server has sent nothing at all, and another of its addresses may.
        case unanswered
        case response(RTSPResponse)
        /// A request of the server.
        case request(RTSPRequest)
        /// ``RTSPSession/deadline`` has come.
        case timer
        /// The first packet of the stream has arrived.
        case mediaArrived
        /// Two ports for datagrams are open, as ``Action/openPorts`` requested.
        case portsOpened(TransportHeader.Pair)
        /// No two ports can be opened.
        case portsUnavailable(InletError)
        /// No packet came by this transport in reasonable time.
        case transportSilent
        /// Too many packets are lost: the session continues over TCP. Without effect if that is in use, was tried
        /// before, or is not allowed.
        case transportLossy
        /// The stream has ended without an RTSP message: by silence, by a broken connection, or by RTCP BYE. The
        /// time is that of its last packet. ``close`` follows.
        case streamLost(since: MonotonicTime)
        /// The consumer wants no packets for now.
        case pause
        /// The consumer wants packets again.
        case resume
        /// The consumer is done.
        case close
    }

    /// An action for the caller. Actions are carried out in order.
    package enum Action: Sendable {
        /// To send these bytes.
        case send([UInt8])
        /// To open two ports for datagrams, the first of them even, and to report them.
        case openPorts
        /// To close the ports again: another transport is tried.
        case closePorts
        /// To expect packets as described. They may arrive before ``playing(_:)``, and belong to the stream.
        case established(Established)
        /// The server has begun to play.
        case playing(Playing)
        /// The server has paused the stream.
        case paused
        /// The server cannot pause. The stream continues.
        case pauseRefused
        /// To close the connection, open one to this address, and report it. Credentials are not in the address.
        case reconnect(RTSPURL)
        /// The session has failed. ``close`` follows, now or after the server's last answer.
        case fail(InletError)
        /// To close the connection. Nothing follows.
        case close
    }

    /// A stream that has been set up.
    package struct Established: Sendable, Equatable {
        package var video: VideoMedia
        /// The transport of the packets, as the server states it.
        package var transport: TransportHeader
        /// Whether the server continues to write packets to closed connections, and even to unrelated clients that
        /// connect next: LIVE555 before 2017.06.04. Packets of a foreign source are then to be refused.
        package var keepsWritingAfterClose: Bool
        /// The session's `a=range`, as written.
        package var range: [UInt8]?

        /// The channels of the connection that carry the stream's packets and reports; empty for datagrams.
        package var channels: Set<UInt8> {
            guard transport.delivery == .tcp, let pair = transport.interleaved else { return [] }
            return [UInt8(truncatingIfNeeded: pair.rtp), UInt8(truncatingIfNeeded: pair.rtcp)]
        }
    }

    /// The server's information about the beginning of the stream. All of it is a hint.
    package struct Playing: Sendable, Equatable {
        package var range: RangeHeader?
        /// The entry about the video; nil if the server sent no such entry.
        package var info: RTPInfo?
    }
}

extension RTSPSession.Action: CustomStringConvertible, CustomDebugStringConvertible {
    /// The action as a log may show it. The bytes of a request, which may hold credentials, are only counted.
    package var description: String {
        switch self {
        case .send(let bytes): "send \(bytes.count) bytes"
        case .openPorts: "open ports"
        case .closePorts: "close ports"
        case .established: "established"
        case .playing: "playing"
        case .paused: "paused"
        case .pauseRefused: "pause refused"
        case .reconnect(let url): "reconnect to \(url)"
        case .fail(let error): "fail: \(error)"
        case .close: "close"
        }
    }

    /// The same as ``description``.
    package var debugDescription: String { description }
}

extension RTSPSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The session as a log may show it, without any secret.
    package var description: String { "RTSP session with \(url), \(step)" }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since `dump` would show the bytes of secrets.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
