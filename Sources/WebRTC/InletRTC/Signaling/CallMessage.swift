public import InletCore

/// A message between two peers about a call, before and after its session.
public struct CallMessage: Sendable, Hashable {
    /// The call that it concerns.
    public var call: CallID
    /// The content.
    public var content: Content

    public init(_ call: CallID, _ content: Content) {
        self.call = call
        self.content = content
    }

    /// The content of a message about a call.
    public enum Content: Sendable, Hashable {
        /// The sender calls.
        case invite
        /// The invitation has arrived, and the called side is being asked.
        case ringing
        /// The call is accepted; a session follows.
        case accept
        /// The call is declined, with a readable reason of at most ``longestReason`` bytes; nil for no reason.
        case decline(reason: String?)
        /// The peer has another call or as many as it accepts; nil if it does not state when to try again.
        case busy(retryAfter: Duration?)
        /// The caller gives up before the call is accepted.
        case cancel
        /// A side ends an accepted call.
        case hangUp
        /// The call has ended, for this reason. The caller decides; the called peer agrees, or reports its own view.
        case ended(CallEnd)
        /// The sender's tracks in the room, by ``Room``; the number rises with each change.
        case tracks([RoomTrack], number: Int)
    }

    /// The maximum length of a reason in bytes; a longer one is cut.
    public static let longestReason = 256
}

/// The name of one call, the same for both sides: 1 to 64 visible ASCII characters.
public struct CallID: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a name in bytes.
    public static let longest = 64

    /// The name.
    public let description: String

    /// Checks a name.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for a name that is empty, too long, or has a character other
    ///   than the visible ones of ASCII.
    public init(_ name: String) throws(InletError) {
        guard SignalingText.isVisible(name, upTo: Self.longest) else {
            throw InletError(
                .invalidConfiguration, "The name of a call has 1 to \(Self.longest) visible ASCII characters.")
        }
        description = name
    }

    /// Creates a name that no other call has: 128 random bits.
    public init() { description = RandomName.make() }
}
