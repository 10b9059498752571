/// The total processor time of cameras' own processes. It does not fall when a camera is removed. Pure.
struct ChildTimes<Camera: Hashable & Sendable>: Sendable {
    private var last: [Camera: Duration] = [:]
    /// The time of cameras that have been removed.
    private var gone = Duration.zero

    /// Returns the total time of all present and removed cameras.
    ///
    /// - Parameter now: the time of each present camera so far.
    mutating func sum(_ now: [Camera: Duration]) -> Duration {
        for (camera, time) in last where now[camera] ?? .zero < time { gone += time }
        last = now
        return now.values.reduce(gone, +)
    }
}
