/// Counts of what ``RTPReceiver`` has received since it was made.
package struct ReceptionStatistics: Sendable, Equatable {
    /// Packets of the stream that were delivered, or wait for earlier ones.
    package internal(set) var received = 0
    /// Packets that had been received before.
    package internal(set) var duplicates = 0
    /// Packets that came after they had been given up.
    package internal(set) var late = 0
    /// Packets that were given up when a later one was delivered.
    package internal(set) var lost = 0
    /// Packets that came after a later one, in time to be delivered in their place.
    package internal(set) var reordered = 0
    /// Packets that were missing, and came in time because they were requested. They are among ``received``.
    package internal(set) var recovered = 0
    /// Packets of another synchronization source.
    package internal(set) var foreignSource = 0
    /// Packets whose sequence number is far from the expected one, or was used for another packet.
    package internal(set) var strays = 0
    /// Packets that are not RTP version 2 or are inconsistent with their size.
    package internal(set) var malformed = 0
    /// Packets with a payload type that the session description does not name.
    package internal(set) var wrongPayloadType = 0
    /// The number of times the stream continued with unrelated sequence numbers.
    package internal(set) var restarts = 0

    package init() {}
}
