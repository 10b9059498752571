internal import InletCore

/// Computes the figures of reports about one source (RFC 3550, sections A.3 and A.8).
struct ReceptionQuality: Sendable {
    private var clockRate: Int64
    private var first: Int?
    /// The extended highest sequence number received.
    private(set) var highest = 0
    private var received = 0
    private var expectedBefore = 0
    private var receivedBefore = 0
    private var transit: UInt32?
    /// The jitter in 1/16 of a tick.
    private var scaledJitter: UInt32 = 0

    init(clockRate: Int) { self.clockRate = Int64(max(1, min(clockRate, 1_000_000_000))) }

    /// The interarrival jitter in ticks.
    var jitter: UInt32 { scaledJitter >> 4 }

    /// Records a packet of the source. Duplicates and late packets count as received (RFC 3550, section 6.4.1).
    mutating func note(_ sequence: Int, timestamp: UInt32, arrival: MonotonicTime, isFirstCopy: Bool = true) {
        received &+= 1
        if first == nil { (first, highest) = (sequence, sequence) }
        highest = max(highest, sequence)
        guard isFirstCopy else { return }
        let (seconds, rest) = arrival.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let ticks = seconds &* clockRate &+ rest &* clockRate / 1_000_000_000
        let now = UInt32(truncatingIfNeeded: ticks) &- timestamp
        if let transit {
            // A single unit off by hours would affect the jitter for minutes; half a minute is already meaningless.
            let difference = min(Int32(bitPattern: now &- transit).magnitude, UInt32(clamping: clockRate &* 30))
            scaledJitter = scaledJitter &- ((scaledJitter &+ 8) >> 4)
            scaledJitter = scaledJitter.adding(saturating: difference)
        }
        transit = now
    }

    /// Forgets everything, for a source that restarts.
    mutating func reset() { self = Self(clockRate: Int(clockRate)) }

    /// Whether no packet was noted yet.
    var isNew: Bool { first == nil }

    /// The packets lost in all: less than none if duplicates came.
    var lost: Int { expected - received }

    /// Returns the part lost since the last call, in 1/256.
    mutating func takeFractionLost() -> UInt8 {
        let expectedNow = expected &- expectedBefore
        let lostNow = expectedNow &- (received &- receivedBefore)
        (expectedBefore, receivedBefore) = (expected, received)
        guard expectedNow > 0, lostNow > 0 else { return 0 }
        return UInt8(clamping: lostNow.multiplied(saturatingBy: 256) / expectedNow)
    }

    private var expected: Int { first.map { highest &- $0 &+ 1 } ?? 0 }
}
