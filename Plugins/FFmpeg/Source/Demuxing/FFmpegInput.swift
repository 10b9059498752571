import InletCore
import InletDecode
import InletFFmpeg

/// The common part of the file and network configurations: the input of a source, and how it is read.
struct FFmpegInput: Sendable {
    var kind: Kind
    /// The number of the stream to read, as ffprobe counts them; nil for the best one.
    var stream: Int?
    var decoding: DecodingSettings
    /// The number of passes after the first; -1 repeats endlessly.
    var loop = 0
    var start = Duration.zero
    /// The frame rate of a file that states no times; nil for libavformat's default.
    var frameRate: Rational?

    enum Kind: Sendable {
        case file(path: String, pacing: SourcePacing)
        case network(FFmpegNetworkConfiguration)
    }

    /// Returns the input for a demuxer. Nothing is opened yet except a pipe.
    func makeDemuxerInput(_ context: SourceContext) throws(InletError) -> any DemuxerInput {
        switch kind {
        case .file(let path, let pacing):
            try FileInput(path: path, pacing: pacing, limits: decoding.limits, frameRate: frameRate, context: context)
        case .network(let network): try NetworkInput(network, context: context)
        }
    }
}

extension DecodingSettings {
    init(
        _ decoders: [DecoderPlugin], decoder: String?, threads: Int?, limits: PictureLimits = PictureLimits(),
        damage: DamagePolicy = .drop
    ) {
        self.init(decoders, decoder: decoder)
        self.threads = threads
        self.limits = limits
        self.damage = damage
    }
}
