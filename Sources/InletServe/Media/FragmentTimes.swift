import InletCore

/// When a fragment's pictures are, and how long they last.
struct FragmentTimes: Sendable, Hashable {
    /// When its first picture is decoded, on the stream's own timeline.
    var start = MonotonicTime(nanoseconds: 0)
    /// The time to the next fragment, or to the last picture where much more time than usual passes before the next.
    var length = Duration.zero
    /// When its first picture was taken, in nanoseconds since 1970.
    var wallClock: Int64 = 0
    /// Whether ``wallClock`` is by the camera's clock; by this machine's otherwise, at which the picture arrived.
    var isByCamera = false
}
