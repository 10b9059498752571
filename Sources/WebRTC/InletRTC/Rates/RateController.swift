package import InletCore

/// Decides the bit rate of a path from the reports of its far end. Holds no clock and no timer.
package protocol RateController: Sendable {
    /// The current bit rate, in bits a second.
    var bitrate: Int { get }
    /// The capacity of the path, by which sizes are chosen: more than ``bitrate`` while a queue drains. The default is
    /// ``bitrate``.
    var sustainedBitrate: Int { get }
    /// The time before which nothing may be sent, so that data in flight arrives; nil, the default, sends at once. Each
    /// report may bring it forward.
    var pausedUntil: MonotonicTime? { get }

    /// Adds a report of the far end.
    ///
    /// - Parameter report: reports are added in order of time.
    mutating func add(_ report: PathReport)

    /// Makes the decisions that are due.
    ///
    /// - Returns: the bits a second from now on; unchanged if nothing changes.
    mutating func decide(at now: MonotonicTime) -> Int
}

extension RateController {
    /// The same as ``bitrate``.
    package var sustainedBitrate: Int { bitrate }
    /// Nil: packets are sent at once.
    package var pausedUntil: MonotonicTime? { nil }
}

/// The data that the far end of a path received since the previous report.
package struct PathReport: Sendable, Hashable {
    /// The time when the report arrived.
    package var time: MonotonicTime
    /// The number of packets that should have arrived.
    package var expected: Int
    /// The number of those packets that did not arrive.
    package var lost: Int
    /// The bits a second that arrived, if known.
    package var receivedBitrate: Int?
    /// The additional transit time of packets compared with the best observed time, if known: their wait in queues on
    /// the way.
    package var queueing: Duration?
    /// The time when the last of the reported packets was sent, if known: later packets are in flight.
    package var newestSent: MonotonicTime?

    package init(
        time: MonotonicTime, expected: Int, lost: Int, receivedBitrate: Int? = nil, queueing: Duration? = nil,
        newestSent: MonotonicTime? = nil
    ) {
        self.time = time
        self.expected = expected
        self.lost = lost
        self.receivedBitrate = receivedBitrate
        self.queueing = queueing
        self.newestSent = newestSent
    }
}
