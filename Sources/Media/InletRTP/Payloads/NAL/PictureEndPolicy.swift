import InletCore

/// Knows how far the markers of a stream can be trusted, and so when a picture of H.264 or H.265 is complete.
struct PictureEndPolicy {
    /// The way in which a picture's end was found.
    enum End { case marker, sliceCount, pictureStart, timestamp, quiet, streamEnd }

    /// Whether markers within pictures were seen.
    private(set) var hasSliceMarkers = false
    private var picturesWithoutMarker = 0
    private var hasMarkers = false
    // The number of slices of recent pictures, and of how many in a row.
    private var slices = 0
    private var sameSlices = 0
    // Whether whole pictures have had different numbers of slices. The number then never determines an end again: one
    // that was the same for a while is no proof, and a wrong end costs pictures up to the next key frame.
    private var variesSlices = false
    // Whether the previous picture, which was ended by quiet time, had another number of slices than those before it.
    // It may continue.
    private var seemsToVary = false
    // The pictures that ended with their marker, and did not continue so far.
    private var markedPictures = 0
    private var quietTime: Duration
    // The longest pause between two packets of a picture, in nanoseconds: in the present one, and in those before it,
    // of which older ones count less.
    private var pause: Int64 = 0
    private var longestPause: Int64 = 0
    private var measuredPictures = 0
    /// Whether markers may count: the end of a picture was found by something else.
    private(set) var knowsMarkers: Bool

    /// The time for which the stream must be quiet after a marker in the first picture.
    static let firstQuietTime = Duration.milliseconds(100)
    private static let longestQuietTime = Duration.milliseconds(40)
    /// The number of pictures after which the sender's pauses within pictures are known.
    private static let enoughPictures = 4

    // Whether markers have to be proven, the pictures whose marker was right, the size of the largest of them, and
    // whether one was wrong.
    private let provesMarkers: Bool
    private var proofs = 0
    private var provenSize = 0
    private var hasFalseMarkers = false

    private static let enoughProofs = 2
    /// The number of consecutive pictures that must have had a number of slices before it determines an end.
    private static let enoughSameSlices = 4

    /// - Parameters:
    ///   - provesMarkers: whether markers count only once they have been right. The default is false.
    ///   - doubtsFirst: whether no marker ends the first picture, in which each slice may have one. The default is
    ///     false.
    init(quietTime: Duration, provesMarkers: Bool = false, doubtsFirst: Bool = false) {
        self.quietTime = quietTime
        self.provesMarkers = provesMarkers
        knowsMarkers = !doubtsFirst
    }

    /// Returns whether a marker counts after this many bytes of a picture.
    ///
    /// Markers that have to be proven count only up to the size at which they have been right: a sender may set them
    /// only in large pictures.
    func trustsMarker(at size: Int) -> Bool {
        !provesMarkers || !hasFalseMarkers && proofs >= Self.enoughProofs && size <= provenSize
    }

    /// Records a marker after which the picture continued. Markers no longer count.
    mutating func noteFalseMarker() { hasFalseMarkers = true }

    /// The time for which the stream must be quiet after a picture: twice as long as the sender's own pauses within
    /// pictures.
    var quiet: Duration {
        if hasSliceMarkers, measuredPictures < Self.enoughPictures { return Self.firstQuietTime }
        let pause = Duration.nanoseconds(min(longestPause, 1_000_000_000) * 2)
        return min(max(quietTime, pause), Self.firstQuietTime)
    }

    /// Records the time between two packets of one picture.
    mutating func notePause(_ duration: Duration) { pause = max(pause, duration.wholeNanoseconds) }

    /// Whether pictures have to be ended by quiet time.
    var needsQuiet: Bool { hasSliceMarkers || picturesWithoutMarker >= 2 }

    /// Whether the pictures before had markers.
    var expectsMarker: Bool { hasMarkers && picturesWithoutMarker == 0 }

    /// Returns whether a picture is complete with a marker after that many slices.
    func isComplete(slices: Int) -> Bool {
        guard hasSliceMarkers else { return knowsMarkers }
        return knowsMarkers && !variesSlices && sameSlices >= Self.enoughSameSlices && slices == self.slices
    }

    /// Records a marker that turned out to stand within a picture.
    mutating func noteSliceMarker() { hasSliceMarkers = true }

    /// Records that a part of a picture came after the picture had been returned.
    mutating func noteLatePart(after end: End) {
        switch end {
        case .marker:
            hasSliceMarkers = true
            // Another picture was whole with its first marker.
            variesSlices = variesSlices || markedPictures > 1
        case .sliceCount: variesSlices = true
        case .quiet:
            seemsToVary = false
            quietTime = min(quietTime * 2, max(quietTime, Self.longestQuietTime))
        case .pictureStart, .timestamp, .streamEnd: break
        }
    }

    /// Records a whole picture.
    ///
    /// - Parameter size: its bytes.
    mutating func noteEnd(_ end: End, slices: Int, size: Int, hadMarker: Bool) {
        knowsMarkers = true
        // A picture that was ended by quiet time may continue after a pause of unknown length.
        if end != .quiet { measuredPictures = min(measuredPictures + 1, Self.enoughPictures) }
        longestPause = max(pause, longestPause - longestPause / 16)
        pause = 0
        if hadMarker {
            picturesWithoutMarker = 0
            hasMarkers = true
        } else {
            picturesWithoutMarker = min(picturesWithoutMarker + 1, 1000)
        }
        if hadMarker, end == .pictureStart || end == .quiet {
            proofs = min(proofs + 1, 1 << 30)
            provenSize = max(provenSize, size)
        }
        if seemsToVary { variesSlices = true }
        seemsToVary = false
        if end == .marker { markedPictures = min(markedPictures + 1, 2) }
        guard end == .pictureStart || end == .timestamp || end == .quiet else { return }
        if sameSlices > 0, slices != self.slices {
            if end == .quiet { seemsToVary = true } else { variesSlices = true }
        }
        sameSlices = slices == self.slices ? min(sameSlices + 1, 1 << 30) : 1
        self.slices = slices
    }
}
