import CFFmpeg
import InletCore
import InletFFmpeg

// Unsafe: opens a network stream as a libavformat input.
/// A stream or recording from a server, with a time limit for each packet.
@safe final class NetworkInput: DemuxerInput {
    let interruption: Interruption
    private let configuration: FFmpegNetworkConfiguration
    private let nested: NestedInputs
    private let connection: NetworkConnection
    private let context: SourceContext
    /// Whether a packet of the stream has arrived since the start or the last pause.
    private var hasRead = false
    /// The time limit for the next packet.
    private var limit: Duration

    init(_ configuration: FFmpegNetworkConfiguration, context: SourceContext) throws(InletError) {
        let nested = try NestedInputs(configuration)
        let ending = nested.ending
        interruption = Interruption(context) { ending.isSet }
        connection = try NetworkConnection(
            configuration, interruption: interruption, nested: nested, context: context)
        limit = configuration.firstTimeout
        self.configuration = configuration
        self.nested = nested
        self.context = context
    }

    @unsafe func open() throws(InletError) -> UnsafeMutablePointer<AVFormatContext> { unsafe try connection.open() }

    @unsafe func analyze(_ formatContext: UnsafeMutablePointer<AVFormatContext>) throws(InletError) -> InputFacts {
        let isParsed = unsafe try connection.findParameters(formatContext)
        let pacing = unsafe configuration.pace ?? connection.pacing(formatContext)
        let kind = unsafe pacing != .live && formatContext.pointee.hasLength ? InputKind.networkFile : .liveNetwork
        return unsafe InputFacts(
            kind: kind, pacing: pacing, isBroadcast: kind == .liveNetwork, showsVideoLate: true, isParsed: isParsed,
            makesTimesUp: formatContext.pointee.makesTimesUp, frameRate: nested.pollRate, timestampsWrap: true)
    }

    /// Returns an assembler for unparsed RTP payloads.
    @unsafe func makeAssembler(
        _ parameters: UnsafePointer<AVCodecParameters>
    ) throws(InletError) -> AccessUnitAssembler? {
        guard configuration.scheme.hasBytePrefix("rtsp") else { return nil }
        return unsafe try AccessUnitAssembler(
            parameters, comesByUDP: [.udp, .multicast].contains(configuration.transport))
    }

    func beginRead() {
        limit = hasRead ? configuration.readTimeout : configuration.firstTimeout
        interruption.allow(limit)
    }

    func checkRead() throws(InletError) {
        try context.checkCancellation()
        try nested.check()
        guard interruption.hasExpired else { return }
        throw InletError(
            .timedOut,
            hasRead
                ? "No data arrived for \(limit.optionText). The server has stopped, or the network is interrupted. "
                    + "read-timeout sets how long to wait."
                : "The server promised a stream, but no data arrived within \(limit.optionText). "
                    + "first-timeout sets how long to wait.",
            context: .init(operation: Self.readOperation))
    }

    func notePacket(isWanted: Bool) {
        nested.notePacket()
        if isWanted { hasRead = true }
    }

    func takeFacts() -> FFmpegLogging.Facts { FFmpegLogging.takeFacts() }

    func failure(_ code: Int32, _ facts: FFmpegLogging.Facts) -> InletError {
        NetworkTrouble.error(code, facts, operation: Self.readOperation)
    }

    @unsafe func pause(_ formatContext: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        interruption.allow(configuration.readTimeout)
        return unsafe av_read_pause(formatContext) == 0
    }

    @unsafe func play(_ formatContext: UnsafeMutablePointer<AVFormatContext>) throws(InletError) {
        hasRead = false
        interruption.allow(configuration.firstTimeout)
        let code = unsafe av_read_play(formatContext)
        if code < 0 { throw NetworkTrouble.error(code, takeFacts(), operation: "av_read_play") }
    }
}
