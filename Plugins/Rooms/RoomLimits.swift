import InletCore
import InletRTC

/// The limits of a server of rooms.
public struct RoomLimits: Sendable, Hashable {
    /// The maximum number of rooms with members. The default is 256.
    public var rooms = 256
    /// The maximum number of members of a room. The default is 32.
    public var members = 32
    /// The maximum number of members in all rooms. The default is 512.
    public var connections = 512
    /// The maximum number of members at one address, or in one IPv6 network. The default is 64.
    public var perAddress = 64
    /// The maximum size of a message in bytes. The default is 196,608.
    public var messageBytes = 196_608
    /// The number of messages per second that a member may send in the long run; four times as many may arrive at
    /// once. The same number of pings and pongs is allowed in addition. The default is 50, because an offer is
    /// followed by a few dozen candidates.
    public var messagesPerSecond = 50
    /// The maximum number of bytes waiting for a member that reads slowly; beyond that it loses its place. The default
    /// is 1,048,576.
    public var unsentBytes = 1_048_576
    /// The time of silence after which a member is pinged. The default is 10 seconds.
    public var pingInterval = Duration.seconds(10)
    /// The time of silence after which a member counts as gone. The default is 25 seconds.
    public var silence = Duration.seconds(25)

    /// Creates limits with default values.
    public init() {}

    /// The message rate of a member that has not sent anything yet.
    var rate: AdmissionRate {
        AdmissionRate(perSecond: Double(messagesPerSecond), burst: 4 * min(messagesPerSecond, 1_000_000))
    }
    /// The reason for rejecting further messages.
    var floodText: String { "The member sends more than \(messagesPerSecond) messages per second." }

    /// Checks the limits.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for a limit that is not positive, or a silence limit that
    ///   leaves no time for a ping.
    func validate() throws(InletError) {
        let counts = [rooms, members, connections, perAddress, messageBytes, messagesPerSecond, unsentBytes]
        guard counts.allSatisfy({ $0 > 0 }), pingInterval > .zero, silence > pingInterval else {
            throw InletError(
                .invalidConfiguration,
                "The limits of rooms must be greater than zero, and silence must be longer than the ping interval.")
        }
    }
}
