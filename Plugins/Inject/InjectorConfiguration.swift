public import InletCore

/// The queue of an injector and the properties that its source states.
public struct InjectorConfiguration: Sendable, Hashable {
    /// The handling of pushes that are faster than the source is read. The default is ``InjectorQueue/latest``, or 256
    /// packets for an injector of packets.
    public var queue: InjectorQueue
    /// The maximum number of queued bytes of pictures or packets, including padding between rows. The default is 256
    /// MiB.
    public var maximumBytes: Int
    /// The number of copies of pictures pushed without an owner that may be in use at once. The default is 8.
    public var copies: Int
    /// The length of one tick of the source's PTS in seconds. Pushed PTS are rescaled to it, rounded down. The default
    /// is a nanosecond. Not used for packets, which have the time base of their ``packetStream``.
    public var timeBase: Rational
    /// The size that is stated before the first picture. The default, nil, makes opening the source wait for the first
    /// picture. Pictures of other sizes may be pushed at any time.
    public var size: ImageSize?
    /// The pixel format that is stated before the first picture, if ``size`` is set. The default is I420.
    public var pixelFormat: PixelFormat
    /// The frame rate, if it is known and constant enough to state. The default is nil.
    public var frameRate: Rational?
    /// The parameters of the packets, for an injector of packets. The default, nil, means an injector of pictures.
    public var packetStream: PacketStream?
    /// The time after which the last picture is delivered again, repeatedly: for pictures that are pushed only when
    /// they change, such as those of a screen. The default, nil, means no repetition; a pause in pushing is then
    /// treated like silence of any live source.
    public var repeatAfter: Duration?

    /// Creates a configuration for an injector of pictures.
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

    /// Creates a configuration for an injector of packets.
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
            throw fail("An injector queues 1 to \(Self.longestQueue) frames, not \(queue.capacity).")
        }
        guard maximumBytes > 0 else { throw fail("An injector queues more than 0 bytes, not \(maximumBytes).") }
        guard (1...1024).contains(copies) else { throw fail("An injector keeps 1 to 1024 copies, not \(copies).") }
        guard timeBase > Rational(0), Rational(exactly: timeBase.numerator, over: timeBase.denominator) != nil else {
            throw fail("A time base is a positive ratio of 32-bit numbers, not \(timeBase).")
        }
        if let size, !size.isValid { throw fail("\(size) is not a valid picture size.") }
        if let frameRate, frameRate <= Rational(0) { throw fail("A frame rate is greater than 0, not \(frameRate).") }
        if let repeatAfter, repeatAfter < .milliseconds(1) {
            throw fail("A picture can be repeated after a millisecond or more, not after \(repeatAfter).")
        }
        guard let packetStream else { return }
        guard packetStream.parameters.timeBase == timeBase else {
            throw fail("The time base of packets must be that of their stream, \(packetStream.parameters.timeBase).")
        }
        guard queue != .latest else {
            throw fail("Packets depend on earlier ones, so the latest queue is only for pictures. Use a bounded queue.")
        }
        guard repeatAfter == nil else { throw fail("Only pictures can be repeated, not packets.") }
    }

    private static let longestQueue = 65_536
}

/// The handling of pushes that are faster than an injector's source is read.
public enum InjectorQueue: Sendable, Hashable {
    /// One picture is queued, and a newer one replaces it.
    case latest
    /// At most `count` pictures or packets are queued; if the queue is full, one of them is dropped. With packets, that
    /// is always the newest one, and all that follow up to the next key frame are dropped, too.
    case bounded(_ count: Int, dropping: Dropped = .oldest)

    /// The picture to drop.
    public enum Dropped: String, Sendable, Hashable, CaseIterable {
        case oldest
        case newest
    }

    /// The maximum number of queued pictures or packets.
    public var capacity: Int {
        switch self {
        case .latest: 1
        case .bounded(let count, _): count
        }
    }
}
