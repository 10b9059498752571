/// The way in which a sender sends lost packets again when a receiver requests them (RFC 4585, section 6.2.1).
package struct Retransmission: Sendable, Equatable {
    /// A separate stream for the packets that are sent again (RFC 4588).
    package struct Stream: Sendable, Equatable {
        /// The payload type of the packets of this stream.
        package var payloadType: UInt8
        /// The payload type of the packets that they repeat.
        package var originalType: UInt8

        package init(payloadType: UInt8, originalType: UInt8) {
            (self.payloadType, self.originalType) = (payloadType, originalType)
        }
    }

    /// The stream of the packets that are sent again; nil if the sender repeats packets as they were.
    package var stream: Stream?
    /// The time for which the sender keeps packets; nil if it is not known.
    package var time: Duration?

    package init(_ stream: Stream?, time: Duration?) { (self.stream, self.time) = (stream, time) }
}
