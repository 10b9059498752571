/// Turns a driver's count of frames, of 32 bits, into a source's, with the gaps that mean losses.
struct SequenceCounter {
    /// What the next frame gets.
    private(set) var next: UInt64 = 0
    private var last: UInt32?

    /// A larger step is a driver that starts anew or does not count, rather than a loss.
    static let largestGap: UInt32 = 100_000

    /// Takes in the driver's number of a buffer.
    ///
    /// - Returns: how many frames were lost before it.
    @discardableResult mutating func advance(to number: UInt32) -> UInt64 {
        defer { last = number }
        guard let last else { return 0 }
        let step = number &- last
        guard step > 1, step <= Self.largestGap else { return 0 }
        next += UInt64(step - 1)
        return UInt64(step - 1)
    }

    /// The number of a frame that is delivered.
    mutating func take() -> UInt64 {
        defer { next += 1 }
        return next
    }

    /// Takes in v4l2loopback's number of a buffer.
    ///
    /// 0 says nothing: each reader that opens sets the numbers of all buffers to it (`init_buffers` in v4l2loopback.c),
    /// and writers with mapped buffers set none.
    ///
    /// - Returns: how many frames were lost before it.
    @discardableResult mutating func advance(loopback number: UInt32) -> UInt64 {
        if number == 0 { restart() }
        return number == 0 ? 0 : advance(to: number)
    }

    /// The driver will count from the beginning.
    mutating func restart() { last = nil }
}
