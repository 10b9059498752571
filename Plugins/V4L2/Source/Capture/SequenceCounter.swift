/// Converts a driver's 32-bit frame count to a source's sequence numbers, in which gaps mean losses.
struct SequenceCounter {
    /// The number of the next frame.
    private(set) var next: UInt64 = 0
    private var last: UInt32?

    /// The largest step that counts as a loss. A larger one means that the driver restarted or does not count.
    static let largestGap: UInt32 = 100_000

    /// Records the driver's number of a buffer.
    ///
    /// - Returns: the number of frames lost before it.
    @discardableResult mutating func advance(to number: UInt32) -> UInt64 {
        defer { last = number }
        guard let last else { return 0 }
        let step = number &- last
        guard step > 1, step <= Self.largestGap else { return 0 }
        next += UInt64(step - 1)
        return UInt64(step - 1)
    }

    /// Returns the number of a delivered frame.
    mutating func take() -> UInt64 {
        defer { next += 1 }
        return next
    }

    /// Records v4l2loopback's number of a buffer.
    ///
    /// 0 means unknown: each reader that opens the device resets the numbers of all buffers to 0 (`init_buffers` in
    /// v4l2loopback.c), and writers with mapped buffers set none.
    ///
    /// - Returns: the number of frames lost before it.
    @discardableResult mutating func advance(loopback number: UInt32) -> UInt64 {
        if number == 0 { restart() }
        return number == 0 ? 0 : advance(to: number)
    }

    /// Records that the driver will count from the beginning.
    mutating func restart() { last = nil }
}
