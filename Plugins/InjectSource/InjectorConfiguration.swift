public import InletCore

/// The queue of an injector, and the statements of its source.
public struct InjectorConfiguration: Sendable, Hashable {
    /// The treatment of pushes that are faster than the source is read. The default is ``InjectorQueue/latest``, and
    /// 256 packets for an injector of packets.
    public var queue: InjectorQueue
    /// The most queued bytes of pictures or packets. The default is 256 MiB. Padding between rows counts as well.
    public var maximumBytes: Int
    /// How many copies of pictures that were pushed without an owner may be in use at once. The default is 8.
    public var copies: Int
    /// The length in seconds of one tick of the source's PTS; pushed ones are rescaled to it, rounded down. The
    /// default is a nanosecond. Not used for packets, which have that of their ``packetStream``.
    public var timeBase: Rational
    /// The size that is stated before the first picture. The default, nil, makes the source wait for the first picture
    /// when it is opened. Pictures of other sizes may be pushed at any time.
    public var size: ImageSize?
    /// The pixel format that is stated before the first picture, if ``size`` is set. The default is I420.
    public var pixelFormat: PixelFormat
    /// Frames a second, if the rate is known and constant enough to state. The default is nil.
    public var frameRate: Rational?
    /// The parameters of the packets, for an injector of packets. The default, nil, means one of pictures.
    public var packetStream: PacketStream?
    /// The time after which the last picture is yielded once more, repeatedly: for pictures that are pushed only when
    /// they change, such as those of a screen. The default, nil, repeats none; a silence is then treated as that of any
    /// live source.
    public var repeatAfter: Duration?

    /// Makes a configuration of an injector of pictures.
    public init(
        queue: InjectorQueue = .latest, size: ImageSize? = nil, pixelFormat: PixelFormat = .yuv420p,
        frameRate: Rational? = nil, timeBase: Rational = Rational(1, 1_000_000_000)
    ) {
        self.queue = queue
        self.size = size
        self.pixelFormat = pixelFormat
        self.frameRate = frameRate
        self.timeBase = timeBase
        maximumBytes = 256 << 20
        copies = 8
    }

    /// Makes a configuration of an injector of packets.
    public init(packets stream: PacketStream, queue: InjectorQueue = .bounded(256, dropping: .newest)) {
        self.init(queue: queue, timeBase: stream.parameters.timeBase)
        packetStream = stream
    }

    /// Checks that all properties are in range and fit together.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public func validate() throws(InletError) {
        func fail(_ message: String) -> InletError { InletError(.invalidConfiguration, message) }
        guard (1...Self.longestQueue).contains(queue.capacity) else {
            throw fail("An injector queues from 1 to \(Self.longestQueue) frames, not \(queue.capacity).")
        }
        guard maximumBytes > 0 else { throw fail("An injector needs room for more than \(maximumBytes) bytes.") }
        guard (1...1024).contains(copies) else { throw fail("An injector keeps 1 to 1024 copies, not \(copies).") }
        guard timeBase > Rational(0), Rational(exactly: timeBase.numerator, over: timeBase.denominator) != nil else {
            throw fail("A time base is greater than 0, in numbers of 32 bits; \(timeBase) is not.")
        }
        if let size, !size.isValid { throw fail("A picture of \(size) pixels cannot exist.") }
        if let frameRate, frameRate <= Rational(0) { throw fail("A frame rate is greater than 0, not \(frameRate).") }
        if let repeatAfter, repeatAfter < .milliseconds(1) {
            throw fail("A picture is repeated after a millisecond or more, not after \(repeatAfter).")
        }
        guard let packetStream else { return }
        guard packetStream.parameters.timeBase == timeBase else {
            throw fail("The time base of packets is that of their stream, \(packetStream.parameters.timeBase).")
        }
        guard queue != .latest else {
            throw fail("Packets need those before them, so that newest wins is for pictures: use a bounded queue.")
        }
        guard repeatAfter == nil else { throw fail("Only pictures are repeated, not packets.") }
    }

    private static let longestQueue = 65_536
}

/// The treatment of pushes that are faster than an injector's source is read.
public enum InjectorQueue: Sendable, Hashable {
    /// One picture is queued, and a newer one replaces it.
    case latest
    /// At most `count` pictures or packets are queued; if the queue is full, one of them is dropped. For packets it is
    /// always the newest, with all that follow up to the next key frame.
    case bounded(_ count: Int, dropping: Dropped = .oldest)

    /// The picture that is dropped.
    public enum Dropped: String, Sendable, Hashable, CaseIterable {
        case oldest
        case newest
    }

    /// The most queued pictures or packets.
    public var capacity: Int {
        switch self {
        case .latest: 1
        case .bounded(let count, _): count
        }
    }
}
