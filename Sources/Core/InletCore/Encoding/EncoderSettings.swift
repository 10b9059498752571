/// How pictures are compressed, in terms that every encoder can follow in its own way.
public struct EncoderSettings: Sendable, Hashable {
    /// The codec. The default is ``VideoCodec/h264``.
    public var codec: VideoCodec
    /// How the size of the packets is controlled. The default is ``Rate-swift.enum/automatic``.
    public var rate: Rate
    /// The trade-off of size, work and delay. The default is ``Preset-swift.enum/realtime``.
    public var preset: Preset
    /// The longest time from one key frame to the next, greater than zero. The default is 2 seconds.
    public var keyFrameInterval: Duration
    /// Threads that encode; 0 is the encoder's own choice. The default is 0.
    public var threads: Int

    /// The features that decoders must support. The default is ``Profile-swift.enum/automatic``.
    public var profile: Profile

    /// The features that decoders must support.
    public enum Profile: String, Sendable, Hashable, CaseIterable {
        /// The profile that suits the preset.
        case automatic
        /// For H.264 the part that every browser and phone decodes: constrained baseline. Other codecs are treated as
        /// with ``automatic``.
        case constrainedBaseline
    }

    /// How the size of the packets is controlled.
    public enum Rate: Sendable, Hashable {
        /// A quality that looks good, by the encoder's own scale.
        case automatic
        /// A number of bits a second, averaged over a second or two, whatever the pictures show.
        case bitrate(Int)
        /// A constant quality from 1 to 100, the best. It is the encoder's own scale, stretched to this range.
        case quality(Int)
    }

    /// The trade-off of size, work and delay.
    public enum Preset: String, Sendable, Hashable, CaseIterable {
        /// Like ``realtime`` with the least work, in packets that a narrow path can carry at once: a bit rate is also
        /// kept over a third of a second, and easy pictures may take less than it. Pictures of other colour spaces are
        /// converted to BT.601 of limited range, which most players of calls assume for everything. For calls, whose
        /// bit rate follows the path.
        case conversation
        /// A packet is output at once for every picture, with little work. For calls, previews and live streams.
        case realtime
        /// Smaller for a little more work and up to half a second of delay. For recordings.
        case balanced
        /// The smallest sensible size, at the cost of processor time. For files that are kept.
        case archive
    }

    public init(
        codec: VideoCodec = .h264, rate: Rate = .automatic, preset: Preset = .realtime,
        keyFrameInterval: Duration = .seconds(2), threads: Int = 0, profile: Profile = .automatic
    ) {
        self.codec = codec
        self.rate = rate
        self.preset = preset
        self.keyFrameInterval = keyFrameInterval
        self.threads = threads
        self.profile = profile
    }

    /// Checks what can be checked without an encoder.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` that names the range.
    public func validate() throws(InletError) {
        switch rate {
        case .automatic: break
        case .bitrate(let bits):
            guard Self.bitrates.contains(bits) else {
                throw Self.error("A bit rate of \(bits)", Self.bitrates, "bits a second")
            }
        case .quality(let quality):
            guard Self.qualities.contains(quality) else { throw Self.error("A quality of \(quality)", Self.qualities) }
        }
        guard Self.threadCounts.contains(threads) else { throw Self.error("\(threads) threads", Self.threadCounts) }
        guard keyFrameInterval > .zero else {
            throw InletError(.invalidConfiguration, "Key frames cannot be \(keyFrameInterval) apart.")
        }
    }

    /// The allowed bits a second.
    public static let bitrates = 1000...1_000_000_000
    /// The allowed qualities.
    public static let qualities = 1...100
    /// The allowed numbers of threads.
    public static let threadCounts = 0...64

    private static func error(_ what: String, _ range: ClosedRange<Int>, _ unit: String = "") -> InletError {
        InletError(
            .invalidConfiguration,
            "\(what) is out of range: it takes \(range.lowerBound) to \(range.upperBound)\(unit.isEmpty ? "" : " " + unit)."
        )
    }
}
