public import InletCore

/// The state of a session with a peer.
public enum PeerSessionState: Sendable, Hashable {
    /// Nothing has been exchanged yet.
    case new
    /// Descriptions are being exchanged.
    case exchanging
    /// This side's addresses are being gathered.
    case gathering
    /// Both descriptions are known; a path is being searched for.
    case connecting
    /// Media flows.
    case connected
    /// Media has flowed, and a path is being searched for again.
    case reconnecting
    /// The session has ended permanently.
    case ended(PeerSessionEnd)
}

extension PeerSessionState: CustomStringConvertible {
    /// The state in one word, with the reason of an end.
    public var description: String {
        switch self {
        case .new: "new"
        case .exchanging: "exchanging"
        case .gathering: "gathering"
        case .connecting: "connecting"
        case .connected: "connected"
        case .reconnecting: "reconnecting"
        case .ended(let end): "ended: \(end)"
        }
    }
}

/// The reason of a session's end.
public enum PeerSessionEnd: Sendable, Hashable {
    /// This side closed it.
    case local
    /// The peer closed it.
    case remote
    /// The peer, or its server, declined.
    case declined
    /// A step took too long, and so did every further attempt.
    case timedOut(PeerSessionStep)
    /// The session cannot work.
    case failed(PeerSessionFailure)
}

extension PeerSessionEnd: CustomStringConvertible {
    /// The end in one word, with its step or failure.
    public var description: String {
        switch self {
        case .local: "local"
        case .remote: "remote"
        case .declined: "declined"
        case .timedOut(let step): "timed out while \(step.rawValue)"
        case .failed(let failure): "failed: \(failure.rawValue)"
        }
    }

    /// The end as an error; nil for a regular end.
    public var error: InletError? {
        switch self {
        case .local, .remote: nil
        case .declined:
            InletError(
                .permissionDenied, "The peer declined the session. Ask its operator, or check its log.")
        case .timedOut(let step): InletError(.timedOut, step.advice)
        case .failed(let failure): InletError(failure.code, failure.advice)
        }
    }
}

/// A part of a session that has a time-out.
public enum PeerSessionStep: String, Sendable, Hashable, CaseIterable {
    /// Waiting for the peer's description, or for the engine to make this side's.
    case exchanging
    /// Waiting for a path.
    case connecting
    /// Waiting for a path again.
    case reconnecting
    /// Media flowed, and the peer fell silent.
    case connected

    /// The description and the advice, for users.
    public var advice: String {
        switch self {
        case .exchanging:
            "The peer did not answer the offer. Check that it is running and that signaling reaches it."
        case .connecting:
            "No path to the peer was found. Behind a NAT or a firewall, add a TURN server that both sides can reach."
        case .reconnecting: "The path to the peer broke, and no other was found. Check whether its network changed."
        case .connected: "The peer sent nothing for too long. It was probably closed or has lost its network."
        }
    }
}

/// The reason why a session is impossible.
public enum PeerSessionFailure: String, Sendable, Hashable, CaseIterable, Error {
    /// The peer's description cannot be read.
    case malformedDescription = "the description cannot be read"
    /// The sides have no codec in common.
    case noCommonCodec = "no codec in common"
    /// The engine found no path, before any time-out.
    case noPath = "no path"
    /// No TURN server provided an address, and only relays may be used.
    case noRelay = "no relay"
    /// No TLS connection to a TURN server could be made, and only relays may be used.
    case relayTLS = "no TLS with the relay"
    /// The key exchange on the path failed.
    case encryption = "encryption"
    /// An address or a route of this machine is gone, and the peer has sent nothing since.
    case networkChanged = "the network changed"
    /// The media engine failed.
    case engine = "media engine"
    /// More candidates, sessions or bytes than are allowed.
    case limit = "limit"

    /// The error code, for programs.
    public var code: InletError.Code {
        switch self {
        case .malformedDescription: .malformedData
        case .noCommonCodec: .unsupported
        case .noPath, .networkChanged: .disconnected
        case .noRelay: .authenticationFailed
        case .encryption, .relayTLS: .tlsFailed
        case .engine: .internal
        case .limit: .resourceExhausted
        }
    }

    /// The reasons why a relay gives no address, and the advice, for users.
    package static let noRelayCauses =
        "It rejects the user and password, which may have expired, or it cannot be reached. Check its log."

    /// The description and the advice, for users.
    public var advice: String {
        switch self {
        case .malformedDescription:
            "The peer's description is not SDP that WebRTC understands. Check its software."
        case .noCommonCodec:
            "The peer supports none of the offered codecs. Every browser supports H.264 and VP8."
        case .noPath: PeerSessionStep.connecting.advice
        case .noRelay:
            "Only relays may be used (relay-only), and none provided an address. \(Self.noRelayCauses)"
        case .relayTLS:
            "Only relays may be used (relay-only), and none was reached over TLS: its certificate is not trusted, or its port is not for turns. The log has the reason; turn-tls-ca names an authority."
        case .encryption:
            "DTLS failed on the path. Possible causes: a proxy that changed the description, a peer without ECDSA."
        case .networkChanged:
            "The network of this machine changed, and the peer has sent nothing since. The session restarts automatically."
        case .engine:
            "The media engine failed. Check that all of its plug-ins are installed: Scripts/bootstrap --webrtc."
        case .limit: "The peer sent more than is allowed. Raise the limits if it can be trusted."
        }
    }
}
