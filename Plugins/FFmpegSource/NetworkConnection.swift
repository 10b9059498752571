import CFFmpeg
import InletCore
import InletFFmpeg

/// Makes the connection to a server, with as little analysis as the stream's parameters need.
@safe struct NetworkConnection {
    private let configuration: FFmpegNetworkConfiguration
    private let address: NetworkAddress
    private let interruption: Interruption
    private let nested: NestedInputs
    private let context: SourceContext

    init(
        _ configuration: FFmpegNetworkConfiguration, interruption: Interruption, nested: NestedInputs,
        context: SourceContext
    ) throws(InletError) {
        self.configuration = configuration
        address = try NetworkAddress(configuration.url)
        self.interruption = interruption
        self.nested = nested
        self.context = context
        try configuration.certificateCheck.refuseWhatCannotBeChecked(scheme: address.scheme, isOutput: false)
    }

    /// Opens the input, on a thread of its own.
    ///
    /// - Returns: the input, which the caller owns.
    @unsafe func open() throws(InletError) -> UnsafeMutablePointer<AVFormatContext>? {
        var options: OpaquePointer?
        for (name, value) in configuration.settings(scheme: address.scheme) {
            unsafe av_dict_set(&options, name, value, 0)
        }
        interruption.allow(configuration.connectTimeout)
        let input = unsafe try interruption.makeInput()
        unsafe nested.watch(input)
        let job = unsafe try OpeningJob(
            url: try address.url(user: configuration.user, password: configuration.password),
            format: ["udp", "srt"].contains(address.scheme) ? "mpegts" : nil, input: input, options: options,
            watchers: (interruption, nested))
        var opened = unsafe try job.run(context)
        do throws(InletError) {
            try checkInterruption(
                "The connection was not made within \(configuration.connectTimeout.optionText). "
                    + "Check the address, the server and what lies between. connect-timeout sets how long to wait.")
            try nested.check()
            if unsafe opened.code < 0 {
                if unsafe opened.code == inlet_averror_invaliddata && opened.facts.status == nil && isConversation {
                    throw InletError(
                        .disconnected,
                        "The server broke off, or answered with something that is no \(address.scheme.uppercased()).",
                        context: .init(operation: "avformat_open_input", nativeCode: inlet_averror_invaliddata))
                }
                if unsafe opened.code == -EINVAL && address.scheme.hasPrefix("http") && configuration.options.isEmpty {
                    throw InletError(
                        .malformedData, "The server's answer makes no sense, such as a redirect to what is no address.",
                        context: .init(operation: "avformat_open_input", nativeCode: -EINVAL))
                }
                throw unsafe NetworkTrouble.error(opened.code, opened.facts, operation: "avformat_open_input")
            }
        } catch {
            unsafe avformat_close_input(&opened.input)
            throw error
        }
        return unsafe opened.input
    }

    /// Whether the protocol begins with questions and answers, so that bad data are no stream yet.
    private var isConversation: Bool { address.scheme.hasPrefix("rtsp") || address.scheme.hasPrefix("rtmp") }

    /// Finds out what a stream with an end is, and any stream for which an analysis was asked for. Of all others the first key frame tells the
    /// size and the timestamps tell the rate, so nothing is analysed before the start.
    ///
    /// - Returns: whether it has read packets for that.
    /// - Throws: ``InletError/Code/timedOut`` where nothing came to analyse.
    @unsafe func findParameters(_ input: UnsafeMutablePointer<AVFormatContext>?) throws(InletError) -> Bool {
        guard let input = unsafe input,
            unsafe (configuration.pace ?? pacing(input)) == .unpaced || configuration.probe > .zero
        else { return false }
        interruption.allow(configuration.firstTimeout)
        _ = FFmpegLogging.takeFacts()
        let limits = InputLimits(size: configuration.maximumSize)
        let code = unsafe StreamAnalysis.run(input, maximumPixels: limits.pixels)
        try checkInterruption(
            "The server promised a stream, but nothing came within \(configuration.firstTimeout.optionText). "
                + "first-timeout sets how long to wait.")
        try nested.check()
        if code < 0 {
            throw NetworkTrouble.error(code, FFmpegLogging.takeFacts(), operation: "avformat_find_stream_info")
        }
        return true
    }

    /// How the stream's frames come: a file is read as fast as it is taken, HLS comes in pieces that are played at their own speed, and all
    /// else is live.
    @unsafe func pacing(_ input: UnsafeMutablePointer<AVFormatContext>) -> SourcePacing {
        switch address.scheme {
        case "http", "https":
            if unsafe isFile(input) { return .unpaced }
            return unsafe Self.name(input).contains("hls") ? .realtime : .live
        default: return .live
        }
    }

    /// Whether it has a length: a recording, and no broadcast.
    @unsafe func isFile(_ input: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        if unsafe input.pointee.duration > 0 { return true }
        guard let io = unsafe input.pointee.pb else { return false }
        return unsafe io.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 && avio_size(io) > 0
    }

    /// Whether the demuxer only counts the pictures, as that of MJPEG over HTTP does: its times would have nothing to do with the camera's.
    @unsafe static func makesTimesUp(_ input: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        unsafe ["mpjpeg", "mjpeg", "jpeg_pipe", "image2pipe"].contains(name(input))
    }

    @unsafe private static func name(_ input: UnsafeMutablePointer<AVFormatContext>) -> String {
        unsafe input.pointee.iformat?.pointee.name.map { unsafe String(cString: $0) } ?? ""
    }

    /// Throws where an operation ended because it was to.
    private func checkInterruption(_ message: @autoclosure () -> String) throws(InletError) {
        try context.checkCancellation()
        if interruption.hasExpired { throw InletError(.timedOut, message()) }
    }
}
