/// Derives the time of day of every frame from the frames for which the source reports it.
///
/// Nothing is known until the source has reported it once. Times are in nanoseconds, times of day since 1970; the
/// source's values are not trusted, so no sum of them may trap.
struct WallClockMap {
    /// A position on the source's timeline and its time of day.
    private var reference: (position: Int64, time: Int64)?
    /// The last frame's timestamp and its time of day.
    private var last: (stamp: Int64, time: Int64)?

    /// Returns the time of day of the next frame, or nil while none has been reported.
    ///
    /// - Parameters:
    ///   - given: the time of day that the source reports for this frame.
    ///   - position: where the frame lies on the source's timeline; if nil, its timestamp counts.
    ///   - startsAnew: the position is unrelated to earlier ones.
    ///   - rate: by how much the machine's clock runs faster than the source's. The machine's clock is the better one.
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
