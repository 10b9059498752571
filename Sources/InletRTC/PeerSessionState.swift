public import InletCore

/// How far a session with a peer is.
public enum PeerSessionState: Sendable, Hashable {
    /// Nothing was said yet.
    case new
    /// Descriptions are on their way.
    case exchanging
    /// The own addresses are looked for.
    case gathering
    /// Both descriptions are known; a path is looked for.
    case connecting
    /// Media flows.
    case connected
    /// Media has flowed, and a path is looked for again.
    case reconnecting
    /// Over, for good.
    case ended(PeerSessionEnd)
}

extension PeerSessionState: CustomStringConvertible {
    /// One word, with the reason of an end.
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

/// Why a session is over.
public enum PeerSessionEnd: Sendable, Hashable {
    /// This side closed it.
    case local
    /// The peer closed it.
    case remote
    /// The peer, or its server, did not want it.
    case declined
    /// A step took too long, and so did every further attempt.
    case timedOut(PeerSessionStep)
    /// It cannot work.
    case failed(PeerSessionFailure)
}

extension PeerSessionEnd: CustomStringConvertible {
    /// One word, with what it is about.
    public var description: String {
        switch self {
        case .local: "local"
        case .remote: "remote"
        case .declined: "declined"
        case .timedOut(let step): "timed out while \(step.rawValue)"
        case .failed(let failure): "failed: \(failure.rawValue)"
        }
    }

    /// The end as an error; nil where nothing is wrong with it.
    public var error: InletError? {
        switch self {
        case .local, .remote: nil
        case .declined:
            InletError(
                .permissionDenied, "The peer does not want the session. Ask whoever runs it, or look at its log.")
        case .timedOut(let step): InletError(.timedOut, step.advice)
        case .failed(let failure): InletError(failure.code, failure.advice)
        }
    }
}

/// A part of a session that has a time-out.
public enum PeerSessionStep: String, Sendable, Hashable, CaseIterable {
    /// Waiting for the peer's description, or for the engine to make ours.
    case exchanging
    /// Waiting for a path.
    case connecting
    /// Waiting for a path anew.
    case reconnecting
    /// Media flowed, and nothing was heard from the peer.
    case connected

    /// What happened and what to do, for people.
    public var advice: String {
        switch self {
        case .exchanging:
            "The peer did not answer the offer. See whether it is still there and whether signaling reaches it."
        case .connecting:
            "No path to the peer was found. Where a NAT or a firewall is between the two, a TURN server that both reach is needed."
        case .reconnecting: "The path to the peer broke, and no other was found. See whether its network changed."
        case .connected: "Nothing came back from the peer for too long. It was probably closed or has lost its network."
        }
    }
}

/// What makes a session impossible.
public enum PeerSessionFailure: String, Sendable, Hashable, CaseIterable, Error {
    /// The peer's description cannot be read.
    case malformedDescription = "the description cannot be read"
    /// There is no codec that both sides have.
    case noCommonCodec = "no codec in common"
    /// No path, as the engine found before any time-out.
    case noPath = "no path"
    /// No TURN server gave an address, where nothing but that is to be used.
    case noRelay = "no relay"
    /// The key exchange on the path failed.
    case encryption = "encryption"
    /// The media engine failed.
    case engine = "media engine"
    /// More candidates, sessions or bytes than are allowed.
    case limit = "limit"

    /// The code that programs decide by.
    public var code: InletError.Code {
        switch self {
        case .malformedDescription: .malformedData
        case .noCommonCodec: .unsupported
        case .noPath: .disconnected
        case .noRelay: .authenticationFailed
        case .encryption: .tlsFailed
        case .engine: .internal
        case .limit: .resourceExhausted
        }
    }

    /// What happened and what to do, for people.
    public var advice: String {
        switch self {
        case .malformedDescription:
            "The peer's description is not SDP that WebRTC knows. Look at what its software sends."
        case .noCommonCodec:
            "The peer takes none of the codecs that are offered. H.264 and VP8 are what every browser takes."
        case .noPath: PeerSessionStep.connecting.advice
        case .noRelay:
            "The TURN server gave no address, and relay-only is on. It refuses the user and password, which may have expired, or it cannot be reached: its log tells which."
        case .encryption:
            "DTLS failed on the path. A proxy that changed the description, or a peer without ECDSA, does that."
        case .engine:
            "The media engine failed. See whether all of its plug-ins are installed: Scripts/bootstrap --webrtc."
        case .limit: "The peer sent more than is allowed. Raise the limits if it means well."
        }
    }
}
