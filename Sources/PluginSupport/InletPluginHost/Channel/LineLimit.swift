/// Admits at most a hundred lines a second, and counts the rest.
struct LineLimit {
    private var begin = Int64.min
    private var admitted = 0
    private var leftOut: UInt64 = 0

    private static let most = 100
    private static let second: Int64 = 1_000_000_000

    /// Whether a line at this time may be sent. A line that may not is counted.
    mutating func admits(at time: Int64) -> Bool {
        if begin == .min || time - begin >= Self.second {
            begin = time
            admitted = 0
        }
        guard admitted < Self.most else {
            leftOut &+= 1
            return false
        }
        admitted += 1
        return true
    }

    /// Returns the number of lines omitted since the last call, once their second is over; 0 before.
    mutating func takeLeftOut(at time: Int64) -> UInt64 {
        guard leftOut > 0, time - begin >= Self.second else { return 0 }
        defer { leftOut = 0 }
        return leftOut
    }
}
