public import InletCore

/// The carrier of a call's pictures: a media engine, or a test. ``CallController`` opens and closes it.
public protocol CallMedia: Sendable {
    /// Begins to connect media both ways. Called once for each answered call, on any thread; returns at once.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - channel: the channel to the peer, only for this call; closed by the implementation.
    ///   - report: called, from any thread, when media flows both ways, and when it cannot flow, or no longer.
    /// - Throws: ``InletError`` if nothing can be connected, which ends the call.
    func open(
        _ call: Call, over channel: any SignalingChannel, report: @escaping @Sendable (CallMediaEvent) -> Void
    ) throws(InletError) -> any CallMediaSession
}

/// The media of one call.
public protocol CallMediaSession: AnyObject, Sendable {
    /// Ends the media. Called once. Returns when the peer was notified, or after a deadline of the implementation.
    func close() async
}

/// A report of a call's media.
public enum CallMediaEvent: Sendable {
    /// Media flows both ways.
    case connected
    /// Media cannot flow, or no longer.
    case failed(InletError)
}

/// A call as one side sees it.
public struct Call: Sendable, Hashable {
    /// Its name, the same on both sides.
    public var id: CallID
    /// The other side.
    public var peer: PeerID
    /// Whether this side placed the call.
    public var isOutgoing: Bool
    /// Its state.
    public var state: CallState

    public init(id: CallID, peer: PeerID, isOutgoing: Bool, state: CallState) {
        self.id = id
        self.peer = peer
        self.isOutgoing = isOutgoing
        self.state = state
    }
}

/// An event of a call.
public enum CallEvent: Sendable, Hashable {
    /// The call has this state now; the first state of an incoming call is that it rings.
    case changed(Call)
    /// A call that this side placed continues as another one, because both sides called at once.
    case joined(CallID, into: CallID)
}
