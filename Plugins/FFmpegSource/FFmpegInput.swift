import FoundationEssentials
import InletCore
import InletDecode
import InletFFmpeg

/// What a source reads and how: what configurations of files and of networks have in common.
struct FFmpegInput: Sendable {
    var kind: Kind
    /// The stream to read, as ffprobe counts; nil for the best.
    var stream: Int?
    /// How frames come; nil for what the input is.
    var pace: SourcePacing?
    var decoding: DecodingSettings
    /// More passes after the first; -1 is for ever.
    var loop = 0
    var start = Duration.zero

    /// What watches the inputs that it opens besides itself.
    func makeNestedInputs() throws(InletError) -> NestedInputs {
        guard case .network(let network) = kind else { return NestedInputs(isSecure: false) }
        let environment = ProcessInfo.processInfo.environment
        return try NestedInputs(
            isSecure: network.scheme == "https", protocols: network.allowedProtocols,
            http: network.isHTTP ? HTTPSettings(network, environment: environment) : nil)
    }

    enum Kind: Sendable {
        case file(path: String)
        case network(FFmpegNetworkConfiguration)
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
