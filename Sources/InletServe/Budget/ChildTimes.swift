/// The processor time of cameras' own processes in sum, which does not fall when a camera is removed. Pure.
struct ChildTimes<Camera: Hashable & Sendable>: Sendable {
    private var last: [Camera: Duration] = [:]
    /// The time of those that are no more.
    private var gone = Duration.zero

    /// Returns the sum, with the time of all cameras that there were.
    ///
    /// - Parameter now: the time of each camera that there is, up to now.
    mutating func sum(_ now: [Camera: Duration]) -> Duration {
        for (camera, time) in last where now[camera] ?? .zero < time { gone += time }
        last = now
        return now.values.reduce(gone, +)
    }
}
