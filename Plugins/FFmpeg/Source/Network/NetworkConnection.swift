import CFFmpeg
import InletCore
import InletDecode
import InletFFmpeg
import InletNetwork

// Unsafe: opens a connection as a libavformat input.
/// Connects to a server, analysing no more than the stream's parameters require.
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
        guard configuration.isHTTP else {
            try configuration.certificateCheck.refuseWhatCannotBeChecked(scheme: address.scheme, isOutput: false)
            return
        }
        guard HTTPAddress(address.withoutCredentials) != nil else {
            throw InletError(.invalidConfiguration, "Invalid HTTP address. Check its host and port.")
        }
    }

    /// Opens the input on its own thread, and follows the redirects of an RTSP server.
    ///
    /// - Returns: the input, which the caller owns.
    @unsafe func open() throws(InletError) -> UnsafeMutablePointer<AVFormatContext> {
        let (user, password) = (configuration.user, configuration.password)
        let whole = try address.url(user: user, password: password)
        // HTTP gets its credentials from ``HTTPSettings``.
        let first = configuration.isHTTP ? address.withoutCredentials : whole
        let end = context.clock.now + configuration.connectTimeout
        var (address, queue, hasCredentials) = (address, PlaceQueue { [first] }, true)
        let places = RedirectPlaces(configuration.addressPolicy)
        for _ in 0...NetworkRedirect.most {
            var opened = unsafe try attempt(queue, address.scheme, until: end)
            guard let target = unsafe opened.facts.redirect else {
                do throws(InletError) {
                    unsafe try check(opened.code, opened.facts)
                } catch {
                    unsafe avformat_close_input(&opened.input)
                    if !hasCredentials, error.code == .authenticationFailed { throw NetworkRedirect.strangersRefusal }
                    throw error
                }
                guard let input = unsafe opened.input else {
                    throw InletError(.internal, "libavformat opened nothing and reported no error.")
                }
                return unsafe input
            }
            unsafe avformat_close_input(&opened.input)
            try checkTime()
            let led = try NetworkRedirect.follow(from: address, to: target, protocols: ["rtsp", "rtsps"])
            try configuration.certificateCheck.refuseWhatCannotBeChecked(scheme: led.address.scheme, isOutput: false)
            hasCredentials = hasCredentials && led.keepsCredentials
            let (from, next, isOurs, own) = (address, led.address, hasCredentials, self.address)
            queue = PlaceQueue { () throws(InletError) in
                var urls: [String] = []
                for found in try places.check(next, from: from) {
                    urls.append(
                        isOurs
                            ? try found.url(user: user ?? own.user, password: password ?? own.password)
                            : found.withoutCredentials)
                }
                return urls
            }
            address = next
        }
        throw NetworkRedirect.endless
    }

    /// Tries the addresses of a place in turn until one is reached. An address that does not answer must leave time
    /// for the others.
    @unsafe private func attempt(
        _ queue: PlaceQueue, _ scheme: String, until end: MonotonicTime
    ) throws(InletError) -> (
        input: UnsafeMutablePointer<AVFormatContext>?, code: Int32, facts: FFmpegLogging.Facts
    ) {
        while true {
            interruption.allow(max(.zero, end - context.clock.now))
            // Records whether the time is up.
            _ = interruption.shouldGiveUp
            try checkTime()
            let place =
                { [interruption, clock = context.clock] () throws(InletError) in
                    let (url, count) = try queue.next()
                    if count > 1, !interruption.shouldGiveUp {
                        interruption.allow(max(.zero, end - clock.now) / count)
                    }
                    return url
                } as OpeningJob.Place
            var opened = unsafe try attempt(place, scheme)
            let hasExpired = interruption.hasExpired
            guard !queue.isEmpty,
                unsafe NetworkTrouble.isUnreached(opened.code, opened.facts, hasExpired: hasExpired)
            else { return unsafe opened }
            unsafe avformat_close_input(&opened.input)
        }
    }

    @unsafe private func attempt(
        _ place: @escaping OpeningJob.Place, _ scheme: String
    ) throws(InletError) -> (
        input: UnsafeMutablePointer<AVFormatContext>?, code: Int32, facts: FFmpegLogging.Facts
    ) {
        var options: OpaquePointer?
        for (name, value) in configuration.settings(scheme: scheme) { unsafe av_dict_set(&options, name, value, 0) }
        let input = unsafe try interruption.makeInput()
        do throws(InletError) {
            unsafe try nested.watch(input, interruption)
        } catch {
            unsafe avformat_free_context(input)
            unsafe av_dict_free(&options)
            throw error
        }
        let job = unsafe try OpeningJob(
            url: place, format: ["udp", "srt"].contains(scheme) ? "mpegts" : nil, input: input, options: options,
            watchers: (interruption, nested))
        return unsafe try job.run(context)
    }

    private func checkTime() throws(InletError) {
        try checkInterruption(
            "The connection was not made within \(configuration.connectTimeout.optionText). "
                + "Check the address, the server and the network. connect-timeout sets how long to wait.")
    }

    /// Throws if opening the input failed.
    private func check(_ code: Int32, _ facts: FFmpegLogging.Facts) throws(InletError) {
        try checkTime()
        try nested.check()
        guard code < 0 else { return }
        if code == inlet_averror_invaliddata && facts.status == nil && isConversation {
            throw InletError(
                .disconnected,
                "The server closed the connection, or its answer is not \(address.scheme.uppercasedASCII).",
                context: .init(operation: "avformat_open_input", nativeCode: inlet_averror_invaliddata))
        }
        if facts.opensByItself && configuration.isHTTP {
            throw InletError(
                .unsupported,
                "libavformat opens the addresses in this stream by itself, as it does for DASH, without checks of addresses and "
                    + "certificates. Use HLS. Over http, private-addresses=allow permits it.",
                context: .init(operation: "avformat_open_input", nativeCode: code))
        }
        if code == inlet_averror_invaliddata, nested.demuxer != nil {
            throw InletError(
                .malformedData, "The server announces pictures, but its data contains no JPEG.",
                context: .init(operation: "avformat_open_input", nativeCode: code))
        }
        if code == -EINVAL && address.scheme.hasBytePrefix("http") && configuration.options.isEmpty {
            throw InletError(
                .malformedData, "The server's answer is invalid, for example a redirect to an invalid address.",
                context: .init(operation: "avformat_open_input", nativeCode: -EINVAL))
        }
        throw NetworkTrouble.error(code, facts, operation: "avformat_open_input")
    }

    /// Whether the protocol begins with requests and responses, so that malformed data does not imply a malformed
    /// stream.
    private var isConversation: Bool { address.scheme.hasBytePrefix("rtsp") || address.scheme.hasBytePrefix("rtmp") }

    /// Analyses a stream that has an end, and any stream for which analysis was requested. For all others the first
    /// key frame states the size and the timestamps reveal the rate, so nothing is analysed before the start.
    /// - Returns: whether the analysis read packets.
    /// - Throws: ``InletError/Code/timedOut`` if nothing arrived to analyse.
    @unsafe func findParameters(_ input: UnsafeMutablePointer<AVFormatContext>) throws(InletError) -> Bool {
        guard unsafe (configuration.pace ?? pacing(input)) == .unpaced || configuration.probe > .zero else {
            return false
        }
        interruption.allow(configuration.firstTimeout)
        _ = FFmpegLogging.takeFacts()
        let limits = PictureLimits(size: configuration.maximumSize)
        let code = unsafe StreamAnalysis.run(input, maximumPixels: limits.size.decodedPixelCount)
        try checkInterruption(
            "The server promised a stream, but no data arrived within \(configuration.firstTimeout.optionText). "
                + "first-timeout sets how long to wait.")
        try nested.check()
        if code < 0 {
            throw NetworkTrouble.error(code, FFmpegLogging.takeFacts(), operation: "avformat_find_stream_info")
        }
        return true
    }

    /// Returns the pacing of the stream's frames. A file is read as fast as frames are consumed, HLS arrives in
    /// segments that are played in real time, and everything else is live.
    @unsafe func pacing(_ input: UnsafeMutablePointer<AVFormatContext>) -> SourcePacing {
        switch address.scheme {
        case "http", "https":
            if unsafe input.pointee.hasLength { return .unpaced }
            return unsafe input.pointee.demuxerName?.containsBytes("hls") == true ? .realtime : .live
        default: return .live
        }
    }

    /// Throws if an operation ended because it was interrupted.
    private func checkInterruption(_ message: @autoclosure () -> String) throws(InletError) {
        try context.checkCancellation()
        if interruption.hasExpired { throw InletError(.timedOut, message()) }
    }
}
