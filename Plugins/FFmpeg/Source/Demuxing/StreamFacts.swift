import InletCore

/// The container's information about the stream being read.
struct StreamFacts {
    var index: Int
    var timeBase: Rational
    var rotation: Rotation
    /// Whether the pictures are flipped vertically before the rotation.
    var isMirrored = false
    var sampleAspectRatio: Rational?
    /// Whether the container itself states the aspect ratio.
    var hasContainerAspectRatio = false
    var frameRate: Rational?

    /// The duration of a frame in ticks, from the frame rate; 1 if the rate is unknown.
    var frameTicks: Int64 {
        guard let interval = frameRate?.reciprocal else { return 1 }
        return max(1, MediaTime(ticks: 1, timeBase: interval).rescaled(to: timeBase).ticks)
    }
}
