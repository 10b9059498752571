import InletCore

/// The times and the length of a fragment.
struct FragmentTimes: Sendable, Hashable {
    /// The decoding time of the first picture, on the stream's own timeline.
    var start = MonotonicTime(nanoseconds: 0)
    /// The time to the next fragment; or to the last picture, if the time to the next fragment is unusually long.
    var length = Duration.zero
    /// When the first picture was taken, in nanoseconds since 1970.
    var wallClock: Int64 = 0
    /// Whether ``wallClock`` comes from the camera's clock. If false, it is this machine's time when the picture
    /// arrived.
    var isByCamera = false
}
