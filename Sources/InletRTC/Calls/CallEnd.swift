/// Why a call is over, and by whom: the same on both sides.
public struct CallEnd: Sendable, Hashable {
    /// Why a call is over.
    public enum Reason: Sendable, Hashable {
        /// The peer that was called does not want the call; with its words, if it gave any.
        case declined(String?)
        /// Nobody answered in time.
        case missed
        /// The peer that was called is busy; with the time after which another call may succeed, if it gave one.
        case busy(retryAfter: Duration?)
        /// The caller gave up before the call was answered.
        case cancelled
        /// A side hung up.
        case hungUp
        /// The call cannot continue; with what happened, for users.
        case failed(String)
        /// A step took too long.
        case timedOut(Step)
    }

    /// A step that has a time-out.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        /// Waiting for a sign of the peer.
        case reaching
        /// Waiting for media.
        case connecting
    }

    /// The peer whose act, or lack of one, ended the call.
    public var by: PeerID
    /// Why.
    public var reason: Reason

    /// Creates an end.
    ///
    /// - Parameters:
    ///   - peer: who ended the call.
    ///   - reason: why.
    public init(by peer: PeerID, _ reason: Reason) {
        by = peer
        self.reason = reason
    }
}

extension CallEnd.Reason: CustomStringConvertible {
    /// The reason in words, with its details.
    public var description: String {
        switch self {
        case .declined(nil): "declined"
        case .declined(let text?): "declined: \(text)"
        case .missed: "missed"
        case .busy(nil): "busy"
        case .busy(let wait?): "busy, try again in \(wait.components.seconds) s"
        case .cancelled: "cancelled"
        case .hungUp: "hung up"
        case .failed(let text): "failed: \(text)"
        case .timedOut(let step): "timed out while \(step.rawValue)"
        }
    }
}

extension CallID: Comparable {
    /// Whether a name stands before another by its bytes: of two calls that cross, the one that stands before goes on.
    public static func < (one: CallID, other: CallID) -> Bool {
        one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
    }
}
