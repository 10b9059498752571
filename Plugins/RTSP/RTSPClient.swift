import Glibc
import InletCore
import InletFFmpeg
import InletNetwork
import InletRTP
import InletRTSP
import Logging

/// Plays one stream of a server: connects, performs the actions of the ``RTSPSession``, and passes received data to
/// the ``MediaStream``.
///
/// There is one loop with one wait: for the connection or the UDP sockets, for a cancellation, and until the earliest
/// deadline. Confined to one thread at a time.
final class RTSPClient {
    let configuration: RTSPConfiguration
    let context: SourceContext
    let wait: DescriptorWait
    /// Replaces the network and the clock; nil outside captures.
    let replay: CaptureReplay?
    /// Captures the session; nil for no capture.
    let recorder: CaptureRecorder?
    /// The knowledge of the capturer's sources about the server; nil without a capturer.
    let memory: ServerMemory?
    /// Requests key frames by ONVIF; nil if ONVIF is not configured, and in captures.
    let keyFrames: ONVIFRequester?
    var session: RTSPSession { didSet { sessionDeadline = session.deadline } }
    /// The time when the session must be called next, as last stated by the session: it is read before each packet.
    private var sessionDeadline = MonotonicTime.distantFuture
    var connection: RTSPConnection?
    var sockets: MediaSockets?
    var failure: InletError?
    // Kept to reuse their memory: the descriptors to wait for, and RTCP to be sent.
    private var polled: [pollfd] = []
    private var control: [UInt8] = []
    /// The addresses to which connections are permitted.
    var addresses: ServerAddresses
    var local: IPAddress?
    var remote: IPAddress?
    var hasMedia = false
    /// Whether nothing can arrive over the negotiated transport.
    var isUnreachable = false
    /// The time when another address of the server is tried if nothing has arrived from this one; nil if there is no
    /// other address.
    var answerDeadline: MonotonicTime?
    private var datagramsInRow = 0
    /// Whether the last call to ``advance(until:)`` waited and nothing arrived.
    private(set) var isQuiet = false
    /// The number of times that bytes were skipped because they were neither RTSP nor RTP.
    private var gaps: UInt64 = 0
    /// The number of key-frame requests by sinks or the decoder that have been forwarded.
    private var keyFrameRequests = 0
    /// The stream; nil until the server has agreed to send it.
    var stream: MediaStream?
    /// The number of streams that servers have agreed to send, one after another.
    var streamNumber = 0
    /// The media that the server has agreed to send; nil until then.
    var established: RTSPSession.Established? { didSet { channels = established?.channels ?? [] } }
    /// The interleaved channels of the packets.
    private var channels: Set<UInt8> = []
    /// The time when the server began to play; nil before that.
    var playingSince: MonotonicTime?
    /// The time when the wait for packets began: when the server began to play, or before that, the time of the last
    /// connection attempt.
    var waitingSince = MonotonicTime(nanoseconds: .min)
    /// The deadline for opening the stream; nil once it is open.
    var openingEnd: MonotonicTime?
    var isPaused = false { didSet { stream?.isPaused = isPaused } }
    var isPauseRefused = false
    /// Keeps the session alive during a pause; nil otherwise.
    var keeper: PauseKeeper?

    /// The time for which a stream over UDP may be silent before TCP is tried.
    private static let udpPatience = Duration.seconds(3)
    /// An upper limit for the datagrams of a large picture.
    private static let mostDatagramsInRow = 1024

    /// - Parameters:
    ///   - memory: the knowledge of the capturer's earlier sources about the server; nil for the first source.
    ///   - replay: a capture to play instead of a server. The default, nil, plays a server.
    init(
        _ configuration: RTSPConfiguration, _ memory: ServerMemory?, replay: CaptureReplay? = nil,
        _ context: SourceContext
    ) throws(InletError) {
        self.configuration = configuration
        self.context = context
        self.replay = replay
        self.memory = memory
        recorder = configuration.capture.map {
            CaptureRecorder(configuration, to: $0, at: context.clock.now)
        }
        keyFrames = replay == nil ? try ONVIFRequester(configuration, context) : nil
        wait = DescriptorWait(context: context)
        addresses = ServerAddresses(configuration.addressPolicy)
        var settings = try configuration.sessionConfiguration(
            memory?.keepAlive ?? KeepAliveMemory(), startingWith: memory?.transport)
        settings.authentication = memory?.authentication ?? RTSPAuthentication.Memory()
        settings.beginsWithOptions = memory?.beginsWithOptions ?? false
        session = RTSPSession(settings)
        sessionDeadline = session.deadline
    }

    /// The current time. In a capture it advances only when the next record is played.
    var now: MonotonicTime { replay?.now ?? context.clock.now }
    /// Whether a capture has been played to its end.
    var isAtEnd: Bool { replay?.isAtEnd ?? false }

    // MARK: Opening and closing

    /// Connects and makes the server play.
    ///
    /// - Throws: the error if this failed or took too long.
    func open() throws(InletError) {
        let end = now + configuration.connectTimeout
        openingEnd = end
        keyFrames?.prepare()
        defer { openingEnd = nil }
        try perform([.reconnect(session.url)], until: end)
        while playingSince == nil, !(hasMedia && stream?.hasUnit == true) {
            try advance(until: min(end, answerDeadline ?? end))
            try leaveSilentAddress(until: end)
            guard now < end else {
                throw InletError(
                    .timedOut,
                    "The server did not begin to play within \(configuration.connectTimeout.optionText). "
                        + "Check the address, the server and the network. \(HostConnection.advice)")
            }
        }
    }

    /// Whether the server plays a recording, which has an end, and not a camera's live picture.
    var isRecording: Bool {
        guard case .normalPlayTime(_, .some) = established?.range.flatMap({ RangeHeader($0) }) else { return false }
        return true
    }

    // MARK: The loop

    /// Handles packets that have been read, up to the end of a picture, or one message. Otherwise waits for the next
    /// one and for due work.
    ///
    /// - Parameter end: the time to return if nothing happens.
    /// - Throws: the error that ended the session.
    func advance(until end: MonotonicTime) throws(InletError) {
        isQuiet = false
        if let failure = failure ?? recorder?.failure { throw failure }
        if isAtEnd { throw InletError(.streamEnded, "The capture ends before the server plays.") }
        guard let connection else { throw InletError(.disconnected, "The connection has ended.") }
        if try handleRead(connection, until: end) { return }
        // Read before input is checked: there may have been silence up to this time, but not after it.
        let time = now
        // However fast datagrams arrive, due work is done and a cancellation is noticed. Datagrams from before the end
        // of the connection count as well.
        if datagramsInRow < Self.mostDatagramsInRow, receiveDatagram(at: time) {
            datagramsInRow += 1
            return try noteMedia(until: end)
        }
        datagramsInRow = 0
        if connection.hasEnded {
            stream?.end()
            return try perform(session.handle(.disconnected, at: now), until: end)
        }
        // Apparent silence may be bytes that this thread has had no time to read.
        if let stream, replay == nil, stream.silenceDeadline <= time {
            guard try !read(connection, at: time, until: end) else { return }
        }
        try doWhatIsDue(connection, at: time, until: end)
        // The due work may have led to another connection.
        guard failure == nil, self.connection === connection, stream?.hasUnit != true else { return }
        try waitAndRead(connection, until: end)
    }

    /// Handles data that has already been read.
    ///
    /// - Returns: whether any data was waiting.
    private func handleRead(_ connection: RTSPConnection, until end: MonotonicTime) throws(InletError) -> Bool {
        guard var event = try connection.next(take) else { return false }
        while true {
            try handle(event, until: end)
            // Only packets are handled one after another without checking the time and due work.
            guard case .interleaved = event, replay == nil, stream?.hasUnit == false, failure == nil,
                self.connection === connection, let next = try connection.next(take)
            else { return true }
            event = next
        }
    }

    /// Whether the server plays, so that it accepts RTCP.
    private var mayReport: Bool { playingSince != nil || hasMedia }

    /// Does the work that is due by time.
    private func doWhatIsDue(
        _ connection: RTSPConnection, at time: MonotonicTime, until end: MonotonicTime
    ) throws(InletError) {
        if replay?.takeLossy() == true { return try perform(session.handle(.transportLossy, at: now), until: end) }
        if let replay {
            // Due work is part of the capture: no time passes between its records.
            guard replay.takeTimer() || stream?.hasEnded == true else { return }
        } else if let recorder, isDue(at: time) {
            recorder.timer(at: time)
        }
        if sessionDeadline <= time { try perform(session.handle(.timer, at: time), until: end) }
        guard let stream else { return }
        stream.idle(at: time)
        if stream.hasEnded {
            // A session that ends during a pause is restarted, however its end becomes known.
            if session.outlivesConnection { return try perform(session.handle(.disconnected, at: time), until: end) }
            return endStream(InletError(.streamEnded, "The server ended the stream. Check its log."))
        }
        if let since = playingSince, !hasMedia, let sockets, !isPaused, time - since >= Self.udpPatience {
            self.sockets = nil
            context.logger.notice(
                "No packets arrive over \(transportName) (\(sockets.strangers) datagrams from other hosts). Trying the next transport."
            )
            try perform(session.handle(.transportSilent, at: now), until: end)
        }
        if isUnreachable, playingSince != nil {
            isUnreachable = false
            return try perform(session.handle(.transportSilent, at: now), until: end)
        }
        heedKeyFrameRequests(stream)
        try sendControl(connection, stream, at: time)
        if mayReport, !isPaused, stream.awaitsKeyFrame, keyFrames?.request(at: time) == true {
            stream.noteKeyFrameRequest(at: time)
        }
    }

    /// Forwards the key-frame requests of sinks and the decoder. A capture contains its own answers.
    private func heedKeyFrameRequests(_ stream: MediaStream) {
        let count = context.keyFrameRequests
        guard count != keyFrameRequests, replay == nil else { return }
        keyFrameRequests = count
        stream.requestKeyFrame()
    }

    /// Returns whether any work is due by time.
    private func isDue(at time: MonotonicTime) -> Bool {
        if sessionDeadline <= time || isUnreachable && playingSince != nil { return true }
        if let stream, stream.deadline(sendsControl: mayReport) <= time { return true }
        guard let since = playingSince, !hasMedia, sockets != nil, !isPaused else { return false }
        return time - since >= Self.udpPatience
    }

    private func sendControl(
        _ connection: RTSPConnection, _ stream: MediaStream, at time: MonotonicTime
    ) throws(InletError) {
        guard mayReport, let established else { return }
        control.removeAll(keepingCapacity: true)
        stream.control(at: time, into: &control)
        guard !control.isEmpty else { return }
        if let sockets {
            recorder?.sendReport(control, at: time)
            return sockets.send(control, isControl: true)
        }
        guard let channel = established.transport.interleaved?.rtcp, let number = UInt8(exactly: channel) else {
            return
        }
        // RFC 2326, section 10.12: a dollar sign, the channel, and the length.
        let count = control.count
        control.insert(
            contentsOf: [0x24, number, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)], at: 0)
        // A server that reads nothing gets no reports, so that they do not queue up.
        if connection.isSent { try connection.send(control, at: time) }
    }

    private func waitAndRead(_ connection: RTSPConnection, until end: MonotonicTime) throws(InletError) {
        var until = min(end, sessionDeadline)
        if let stream { until = min(until, stream.deadline(sendsControl: mayReport)) }
        if let since = playingSince, !hasMedia, sockets != nil, !isPaused {
            until = min(until, since + Self.udpPatience)
        }
        let isReady: Bool
        if let replay {
            try replay.step()
            isQuiet = replay.isQuiet
            isReady = true
        } else if connection.hasBuffered {
            isReady = true
        } else {
            isReady = try poll(connection, until: until)
        }
        guard isReady else {
            isQuiet = true
            return
        }
        _ = try read(connection, at: now, until: end)
    }

    /// Reads data that has arrived, without waiting.
    ///
    /// - Returns: whether data has arrived, or the connection has failed.
    private func read(
        _ connection: RTSPConnection, at time: MonotonicTime, until end: MonotonicTime
    ) throws(InletError) -> Bool {
        do throws(InletError) {
            if connection.wantsOutput || connection.second != nil { try connection.flush() }
            guard try connection.read(at: time) else { return false }
            context.reportProgress()
        } catch {
            if session.outlives(error) {
                try perform(session.handle(.disconnected, at: time), until: end)
            } else {
                endStream(error)
            }
        }
        return true
    }

    /// Waits for the connection, for packets over UDP, for a message of the pause's thread, or for a cancellation.
    ///
    /// - Returns: whether the connection is ready.
    private func poll(_ connection: RTSPConnection, until end: MonotonicTime) throws(InletError) -> Bool {
        polled.removeAll(keepingCapacity: true)
        connection.appendPolled(to: &polled)
        let count = polled.count
        if let sockets {
            polled.append(pollfd(fd: sockets.rtp, events: Int16(POLLIN), revents: 0))
            polled.append(pollfd(fd: sockets.rtcp, events: Int16(POLLIN), revents: 0))
        }
        if let keeper { polled.append(pollfd(fd: keeper.descriptor, events: Int16(POLLIN), revents: 0)) }
        polled.append(pollfd(fd: context.wakeUpDescriptor, events: Int16(POLLIN), revents: 0))
        try wait.wait(&polled, until: end)
        return polled[..<count].contains { $0.revents != 0 }
    }

    /// Ends the stream: complete units are delivered first, then the error is thrown.
    private func endStream(_ error: InletError) {
        noteLoss()
        stream?.end()
        failure = failure ?? error
    }

    // MARK: What arrives

    private func take(_ channel: UInt8, _ packet: RawSpan, _ hasMore: Bool) {
        guard channels.contains(channel) else { return }
        stream?.take(packet, at: connection?.arrival ?? now, hasMore: hasMore)
    }

    private func receiveDatagram(at time: MonotonicTime) -> Bool {
        guard let sockets, let stream else { return false }
        for descriptor in [sockets.rtp, sockets.rtcp] {
            let isReceived = sockets.receive(on: descriptor) { packet in
                // Only for a packet with a marker does it matter whether more has arrived.
                let hasMarker = packet.byteCount > 1 && packet[1] & 0x80 != 0
                let hasMore = hasMarker && sockets.hasDatagram
                stream.take(packet, at: time, hasMore: hasMore)
                context.reportProgress()
                recorder?.datagram(
                    descriptor == sockets.rtcp ? .report : .packet, packet, hasMore: hasMore, at: time)
            }
            if isReceived { return true }
        }
        return false
    }

    private func handle(_ event: RTSPParser.Event, until end: MonotonicTime) throws(InletError) {
        switch event {
        case .interleaved:
            if let stream, stream.lastArrival != nil { connection?.parser.settings.knownSSRC = stream.ssrc }
            try noteMedia(until: end)
        case .response(let response): try perform(session.handle(.response(response), at: now), until: end)
        case .request(let request): try perform(session.handle(.request(request), at: now), until: end)
        case .gap(let skipped):
            gaps &+= 1
            // Logged at the first, second, fourth and so on, because a server can cause many.
            if gaps.nonzeroBitCount == 1 {
                context.logger.notice(
                    "Skipped \(skipped) bytes from the server that were neither RTSP nor RTP (occurrence \(gaps)).")
            }
        case .needsMore: break
        }
    }

    private func noteMedia(until end: MonotonicTime) throws(InletError) {
        guard !hasMedia, stream?.lastArrival != nil else { return }
        hasMedia = true
        memory?.transport = session.currentTransport
        try perform(session.handle(.mediaArrived, at: now), until: end)
    }
}
