import FoundationEssentials
import InletCore
import InletFFmpeg

/// What a source reads and how: what configurations of files and of networks have in common.
struct FFmpegInput: Sendable {
    /// The source by its URI, without credentials.
    var subject: String
    var kind: Kind
    /// The stream to read, as ffprobe counts; nil for the best.
    var stream: Int?
    /// How frames come; nil for what the input is.
    var pace: SourcePacing?
    /// Threads that decode; 0 is one a core; nil is one for live streams and 0 for others.
    var threads: Int?
    var limits = InputLimits()
    var damage = DamagePolicy.drop
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

/// What is refused, before memory is taken for it.
struct InputLimits: Sendable {
    var size = ImageSize(width: 8192, height: 8192)
    /// Frames a second; nil for files, which are read as fast as they are taken.
    var frameRate: Rational?

    /// The error for pictures beyond ``size``.
    ///
    /// - Parameter subject: the beginning of the sentence, such as `The pictures have`.
    func refusal(_ subject: String) -> InletError {
        InletError(
            .unsupported, "\(subject) more pixels than are taken in: at most \(size). max-size raises the limit.")
    }

    /// How many pixels a decoder may be asked for.
    var pixels: Int { size.decodedPixelCount }
}
