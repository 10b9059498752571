public import InletCore

/// A test picture to generate: `pattern:smpte?size=1280x720&fps=30`.
public struct PatternConfiguration: FrameSourceConfiguration, Hashable {
    /// The pattern to draw. The default is ``TestPattern/smpte``.
    public var pattern: TestPattern
    /// The size, from 16x16 to 8192x8192, including odd numbers. The default is 1280x720.
    public var size: ImageSize
    /// The frame rate, from 1/1000 to 1000. The default is 30.
    public var frameRate: Rational
    /// The number of frames before the end, including lost and skipped ones. The default, 0, is no end.
    public var frames: UInt64
    /// How frames are paced. The default is ``Pace-swift.enum/realtime``.
    public var pace: Pace
    /// The seed of ``TestPattern/noise`` and ``TestPattern/ball``. The default is 0.
    public var seed: UInt64
    /// The colour of ``TestPattern/solid``. The default is mid-grey, `126,128,128`.
    public var color: PatternColor
    /// The number of pictures of a moving pattern that may be in use at once, from 2 to 1024. The default is 16.
    public var buffers: Int

    /// How frames are paced.
    public enum Pace: String, Sendable, Hashable, ChoiceOptionValue {
        /// Frame n is due n frame intervals after the first, as with a camera; a frame that is not consumed in time is
        /// lost.
        case realtime
        /// Frames are generated as fast as they are consumed, and none is lost.
        case unpaced = "none"
    }

    /// Creates a configuration; ``validate()`` and ``FrameSource/open(_:)`` check whether it can work.
    public init(
        _ pattern: TestPattern = .smpte, size: ImageSize = ImageSize(width: 1280, height: 720),
        frameRate: Rational = Rational(30), frames: UInt64 = 0, pace: Pace = .realtime, seed: UInt64 = 0,
        color: PatternColor = .yuv(y: 126, u: 128, v: 128), buffers: Int = 16
    ) {
        self.pattern = pattern
        self.size = size
        self.frameRate = frameRate
        self.frames = frames
        self.pace = pace
        self.seed = seed
        self.color = color
        self.buffers = buffers
    }

    static let sizes = ImageSize(width: 16, height: 16)...ImageSize(width: 8192, height: 8192)
    static let frameRates = Rational(1, 1000)...Rational(1000)
    static let bufferCounts = 2...1024

    /// Checks that all properties are in range and fit together.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public func validate() throws(InletError) {
        func fail(_ message: String) -> InletError {
            InletError(.invalidConfiguration, message, context: .init(subject: redactedURI))
        }
        guard Self.sizes.contains(size) else {
            throw fail("A pattern has a size from 16x16 to 8192x8192, not \(size).")
        }
        guard Self.frameRates.contains(frameRate) else {
            throw fail("A pattern has 1/1000 to 1000 frames per second, not \(frameRate).")
        }
        guard Self.bufferCounts.contains(buffers) else {
            throw fail("A pattern has 2 to 1024 buffers, not \(buffers).")
        }
        if pattern == .timecode, !(TimecodeLayout.leastSize <= size) {
            throw fail(
                "The blocks of timecode do not fit into \(size) pixels. The minimum size is \(TimecodeLayout.leastSize)."
            )
        }
    }

    /// The URI of this configuration.
    public var redactedURI: String {
        let defaults = PatternConfiguration()
        var uri = "pattern:\(pattern.rawValue)?size=\(size)&fps=\(frameRate)"
        if frames != defaults.frames { uri += "&frames=\(frames)" }
        if pace != defaults.pace { uri += "&pace=\(pace.rawValue)" }
        if seed != defaults.seed { uri += "&seed=\(seed)" }
        if color != defaults.color { uri += "&color=\(color.optionText)" }
        if buffers != defaults.buffers { uri += "&buffers=\(buffers)" }
        return uri
    }

    /// Returns a source that draws this pattern.
    public func makeSource() -> any FrameSource { PatternSource(self) }

    /// The colour space: BT.709 from 720 lines up, BT.601 below, as in broadcasting; always limited range.
    var colorSpace: ColorSpace { size.height >= 720 ? .bt709 : .bt601 }

    /// The time base of one tick per frame.
    var timeBase: Rational { frameRate.reciprocal ?? Rational(1) }
}
