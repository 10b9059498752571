public import InletCore

/// What carries the pictures of calls: a media engine, or a test. ``CallController`` tells it when.
public protocol CallMedia: Sendable {
    /// Begins to connect media both ways. Called once for each call that is answered, on some thread; returns at once.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - channel: the channel to the peer, for this call alone; closed by the implementation.
    ///   - report: called, from any thread, when media flows both ways, and when it cannot flow, or no longer.
    /// - Throws: ``InletError`` if nothing can be connected, which ends the call.
    func open(
        _ call: Call, over channel: any SignalingChannel, report: @escaping @Sendable (CallMediaEvent) -> Void
    ) throws(InletError) -> any CallMediaSession
}

/// The media of one call.
public protocol CallMediaSession: AnyObject, Sendable {
    /// Ends the media. Called once. Returns when the peer was told, or after a deadline of the implementation's.
    func close() async
}

/// What the media of a call reports.
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
    /// Whether this side has called.
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

/// Something that happened to a call.
public enum CallEvent: Sendable, Hashable {
    /// The call has this state now; the first of an incoming call is that it rings.
    case changed(Call)
    /// A call that this side placed goes on as another one, since both sides called at once.
    case joined(CallID, into: CallID)
}
