package import InletCore

/// Decides how many bits a second a path is sent, by what its far end reports. Holds no clock and no timer.
package protocol RateController: Sendable {
    /// Bits a second, now.
    var bitrate: Int { get }
    /// What the path bears, by which sizes are chosen: more than ``bitrate`` while a queue drains. The default is
    /// ``bitrate``.
    var sustainedBitrate: Int { get }
    /// Nothing is to be sent before, so that what waits on the way gets through; nil, the default, where it is sent at
    /// once. It may come nearer with each report.
    var pausedUntil: MonotonicTime? { get }

    /// Takes in what the far end saw.
    ///
    /// - Parameter report: reports come in order of time.
    mutating func add(_ report: PathReport)

    /// Makes the decisions that are due.
    ///
    /// - Returns: bits a second from now on; the same as before where nothing changes.
    mutating func decide(at now: MonotonicTime) -> Int
}

extension RateController {
    /// As many as are sent.
    package var sustainedBitrate: Int { bitrate }
    /// At once.
    package var pausedUntil: MonotonicTime? { nil }
}

/// What the far end of a path saw since the report before.
package struct PathReport: Sendable, Hashable {
    /// When it came.
    package var time: MonotonicTime
    /// Packets that should have come.
    package var expected: Int
    /// Packets of those that did not.
    package var lost: Int
    /// Bits a second that came, where that is known.
    package var receivedBitrate: Int?
    /// How much longer packets take than at the best time seen, where that is known: what waits in queues on the way.
    package var queueing: Duration?
    /// When the last of the packets was sent that it tells of, where that is known: what was sent since is on its way.
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
