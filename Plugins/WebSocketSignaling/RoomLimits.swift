import InletCore
import InletRTC

/// The limits of a server of rooms.
public struct RoomLimits: Sendable, Hashable {
    /// The most rooms that have members. The default is 256.
    public var rooms = 256
    /// The most members of a room. The default is 32.
    public var members = 32
    /// The most members of all rooms. The default is 512.
    public var connections = 512
    /// The most members at one address, or in one network of IPv6. The default is 64.
    public var perAddress = 64
    /// The most bytes of a message. The default is 196,608.
    public var messageBytes = 196_608
    /// The messages a second that a member may send in the long run; four times as many may come at once. As many pings
    /// and pongs may come besides. The default is 50: an offer comes with a few dozen candidates.
    public var messagesPerSecond = 50
    /// The most bytes that wait for a member that reads slowly; beyond that it loses its place. The default is
    /// 1,048,576.
    public var unsentBytes = 1_048_576
    /// How long a member is silent before it is pinged. The default is 10 seconds.
    public var pingInterval = Duration.seconds(10)
    /// How long a member may be silent before it counts as gone. The default is 25 seconds.
    public var silence = Duration.seconds(25)

    /// Creates limits with the default of each.
    public init() {}

    /// The rate of the messages of a member that has sent none yet.
    var rate: AdmissionRate {
        AdmissionRate(perSecond: Double(messagesPerSecond), burst: 4 * min(messagesPerSecond, 1_000_000))
    }
    /// The reason of a refusal for more messages.
    var floodText: String { "The member sends more messages than \(messagesPerSecond) a second." }

    /// Checks the limits.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for one that is not positive, or a time for silence that
    ///   leaves no room for a ping.
    func validate() throws(InletError) {
        let counts = [rooms, members, connections, perAddress, messageBytes, messagesPerSecond, unsentBytes]
        guard counts.allSatisfy({ $0 > 0 }), pingInterval > .zero, silence > pingInterval else {
            throw InletError(
                .invalidConfiguration,
                "The limits of rooms are greater than zero, and members may be silent for longer than between pings.")
        }
    }
}
