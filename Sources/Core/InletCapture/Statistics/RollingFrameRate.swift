import InletCore
import Synchronization

/// Frames a second over about the last two seconds: written by one thread without a lock, read by any.
///
/// Time is divided into slots of a quarter of a second. The first frame of a slot stores its arrival and its number
/// there, so a frame costs a comparison, and the rate is exact over whole frames: the frames since the oldest slot's
/// first, divided by the time since then.
final class RollingFrameRate: Sendable {
    static let slotLength: Int64 = 250_000_000
    /// Two seconds of completed slots, and the current one.
    private static let slotCount = 9
    static let window = slotLength * Int64(slotCount - 1)
    private static let noTime = Int64.min

    /// The arrival of each slot's first frame.
    private let times = AtomicCounters(count: slotCount, initial: UInt64(bitPattern: noTime))
    /// The number of that frame.
    private let numbers = AtomicCounters(count: slotCount)
    private let frames = Atomic(UInt64(0))
    private let previous = Atomic(noTime)
    private let last = Atomic(noTime)

    /// Records a frame. Called by one thread at a time.
    func frameArrived(at arrival: MonotonicTime) {
        let arrival = arrival.nanoseconds
        previous.store(last.load(ordering: .relaxed), ordering: .relaxed)
        last.store(arrival, ordering: .relaxed)
        let number = frames.wrappingAdd(1, ordering: .relaxed).newValue

        let slot = arrival / Self.slotLength
        let index = Int(slot.magnitude % UInt64(Self.slotCount))
        let known = Int64(bitPattern: times.load(at: index))
        guard known == Self.noTime || known / Self.slotLength != slot else { return }
        // A reader that sees the new number sees no time, or the new one: never the old time with the new number.
        times.store(UInt64(bitPattern: Self.noTime), at: index)
        numbers.store(number, at: index)
        times.store(UInt64(bitPattern: arrival), at: index)
    }

    /// Returns the current rate, falling towards zero while no frame arrives; nil before the second frame.
    func rate(at now: MonotonicTime) -> Double? {
        let (newest, last) = (frames.load(ordering: .relaxed), last.load(ordering: .relaxed))
        let previous = previous.load(ordering: .relaxed)
        guard newest > 1, previous != Self.noTime else { return nil }
        // The frames of the window, or, for a slower source, the last two.
        var (start, count) = (previous, UInt64(1))
        for index in 0..<Self.slotCount {
            let bits = times.load(at: index)
            let number = numbers.load(at: index)
            let time = Int64(bitPattern: bits)
            guard bits == times.load(at: index), time != Self.noTime, now.nanoseconds &- time <= Self.window,
                number < newest, newest - number > count
            else { continue }
            (start, count) = (time, newest - number)
        }
        let span = max(1, last &- start)
        let spacing = span / Int64(clamping: count)
        // Once the next frame is late by a whole interval, the wait for it counts.
        let quiet = now.nanoseconds &- last
        return Double(count) / Double(quiet > 2 * spacing ? span + quiet - spacing : span) * 1e9
    }
}
