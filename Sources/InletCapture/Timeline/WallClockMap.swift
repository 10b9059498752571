/// The time of day of every frame, from the frames for which the source told it.
///
/// Knows nothing before the source has told it once. Times are in nanoseconds, of day since 1970; they are the source's
/// word, so no sum of them may trap.
struct WallClockMap {
    /// A position on the source's timeline and its time of day.
    private var reference: (position: Int64, time: Int64)?
    /// The last frame's timestamp and its time of day.
    private var last: (stamp: Int64, time: Int64)?

    /// The time of day of the next frame, or nil as long as there was none to go by.
    ///
    /// - Parameters:
    ///   - given: what the source says of this frame.
    ///   - position: where the frame lies on the source's timeline; nil makes its timestamp count.
    ///   - startsAnew: the position has nothing to do with the ones before.
    ///   - rate: by how much the machine's clock goes faster than the source's. The machine's is the better one.
    mutating func time(
        given: Int64?, stamp: Int64, position: Int64?, startsAnew: Bool, rate: Double
    ) -> Int64? {
        let byStamp = last.map { $0.time &+ (stamp &- $0.stamp) }
        if startsAnew { reference = nil }
        var time = given ?? byStamp
        if let position {
            if given == nil, let reference {
                let length = position &- reference.position
                time = reference.time &+ length &+ Int64(Double(length) * rate)
            } else if let time {
                reference = (position, time)
            }
        }
        last = time.map { (stamp, $0) }
        return time
    }
}
