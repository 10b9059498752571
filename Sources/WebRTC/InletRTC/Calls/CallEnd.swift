/// The reason for the end of a call, and the side that ended it: the same on both sides.
public struct CallEnd: Sendable, Hashable {
    /// The reason of a call's end.
    public enum Reason: Sendable, Hashable {
        /// The called peer declined the call; with its explanation, if it gave one.
        case declined(String?)
        /// The call was not answered in time.
        case missed
        /// The called peer is busy; with the time after which another call may succeed, if it gave one.
        case busy(retryAfter: Duration?)
        /// The caller gave up before the call was answered.
        case cancelled
        /// A side hung up.
        case hungUp
        /// The call cannot continue; with a description for users.
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
    /// The reason.
    public var reason: Reason

    /// Creates an end.
    ///
    /// - Parameters:
    ///   - peer: the peer that ended the call.
    ///   - reason: the reason.
    public init(by peer: PeerID, _ reason: Reason) {
        by = peer
        self.reason = reason
    }
}

extension CallEnd.Reason: CustomStringConvertible {
    /// The reason in readable form, with its details.
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
    /// Whether a name precedes another by its bytes: of two crossing calls, the preceding one continues.
    public static func < (one: CallID, other: CallID) -> Bool {
        one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
    }
}
