import CFFmpeg
import CSRT
import Glibc
import InletCore
import InletFFmpeg

// Unsafe: owns a libsrt socket and libavformat's view of it.
/// Owns an SRT connection and libavformat's view of it.
///
/// libavformat's own `srt:` has no option for how long a peer may be silent, and cuts off the end of a stream. The
/// socket does not block, so no call outlasts the sink's deadline. The exception are the names that ``init(_:_:)``
/// looks up: the name service has its own limits. Confined to one thread; libsrt has its own threads.
@safe final class SRTOutput {
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    private let settings: SRTSettings
    private let deadline: OutputDeadline
    private let trouble: SRTTrouble
    private var socket: SRTSOCKET = SRT_INVALID_SOCK
    /// The epoll that watches the socket.
    private var events: Int32
    private var failure: InletError?
    private var silence = SRTSilence()
    private let origin = ContinuousClock.now

    /// The longest wait before the deadline is checked again.
    private static let slice = Duration.milliseconds(100)

    /// Connects.
    ///
    /// - Parameter deadline: the limit of this and each later call.
    /// - Throws: the errors of ``SRTTrouble``. Everything is then closed.
    init(_ output: FFmpegOutput, _ deadline: OutputDeadline) throws(InletError) {
        settings = try SRTSettings(output)
        trouble = SRTTrouble(output)
        self.deadline = deadline
        SRTLogging.install()
        events = srt_epoll_create()
        do throws(InletError) {
            guard events >= 0 else { throw trouble.error(operation: "srt_epoll_create") }
            deadline.allow(settings.connectTimeout)
            socket = try connection()
            try makeView()
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    /// - Throws: the error that ended the connection.
    func check() throws(InletError) {
        if let failure { throw failure }
    }

    // MARK: Connecting

    /// Returns a connected socket, using the first address of the host that works.
    private func connection() throws(InletError) -> SRTSOCKET {
        let peers = try SocketAddress.resolve(settings.host, settings.port, isPassive: settings.mode == .listener)
        var last: InletError?
        for (index, peer) in peers.enumerated() {
            guard !deadline.isOver else { break }
            // An address that does not answer must leave time for the others.
            let share = deadline.remaining / (peers.count - index)
            let socket = srt_create_socket()
            do throws(InletError) {
                guard socket != SRT_INVALID_SOCK else { throw trouble.error(operation: "srt_create_socket") }
                try configure(socket, connectTimeout: share)
                return try settings.mode == .listener ? accept(at: peer, socket) : connect(to: peer, socket)
            } catch {
                srt_close(socket)
                last = error
            }
        }
        throw last ?? trouble.timedOut(isListening: settings.mode == .listener)
    }

    private func configure(_ socket: SRTSOCKET, connectTimeout: Duration) throws(InletError) {
        // The transmission type determines the other options' defaults.
        if settings.isFile { try set(SRTO_TRANSTYPE, Int32(bitPattern: SRTT_FILE.rawValue), socket) }
        try set(SRTO_SNDSYN, false, socket)
        try set(SRTO_RCVSYN, false, socket)
        try set(SRTO_SENDER, true, socket)
        if settings.mode == .rendezvous { try set(SRTO_RENDEZVOUS, true, socket) }
        try set(SRTO_CONNTIMEO, connectTimeout.milliseconds, socket)
        try set(SRTO_PEERIDLETIMEO, settings.writeTimeout.milliseconds, socket)
        for (option, value) in settings.options {
            switch value {
            case .number(let seconds) where option.option == SRTO_LINGER:
                try set(SRTO_LINGER, linger(l_onoff: seconds > 0 ? 1 : 0, l_linger: seconds), socket)
            case .number(let number): try set(option.option, number, socket)
            case .largeNumber(let number): try set(option.option, number, socket)
            case .flag(let isOn): try set(option.option, isOn, socket)
            case .text(let text):
                let bytes = Array(text.utf8)
                try check(
                    unsafe bytes.withUnsafeBytes {
                        unsafe srt_setsockflag(socket, option.option, $0.baseAddress, Int32(clamping: $0.count))
                    }, option.name)
            }
        }
    }

    private func set<Value: BitwiseCopyable>(
        _ option: SRT_SOCKOPT, _ value: Value, _ socket: SRTSOCKET
    ) throws(InletError) {
        let code = unsafe withUnsafeBytes(of: value) {
            unsafe srt_setsockflag(socket, option, $0.baseAddress, Int32(clamping: $0.count))
        }
        try check(code, settings.options.first { $0.option.option == option }?.option.name ?? "\(option.rawValue)")
    }

    private func check(_ code: Int32, _ option: String) throws(InletError) {
        guard code < 0 else { return }
        throw trouble.refused(option: option)
    }

    private func connect(to peer: SocketAddress, _ socket: SRTSOCKET) throws(InletError) -> SRTSOCKET {
        if settings.adapter != nil || settings.mode == .rendezvous {
            // Both ends of a rendezvous use the same port.
            let port = settings.mode == .rendezvous ? settings.port : 0
            let own = try SocketAddress.resolve(settings.adapter ?? "", port, isPassive: true, family: peer.family)
            guard let own = own.first else { throw trouble.error(operation: "srt_bind") }
            try bind(socket, to: own)
        }
        guard unsafe peer.call({ unsafe srt_connect(socket, $0, $1) }) >= 0 else {
            throw trouble.error(operation: "srt_connect")
        }
        try wait(for: SRT_EPOLL_OUT, on: socket) { srt_getsockstate(socket) == SRTS_CONNECTED }
        return socket
    }

    /// Waits for the only peer that is served, and closes the listening socket.
    private func accept(at own: SocketAddress, _ listener: SRTSOCKET) throws(InletError) -> SRTSOCKET {
        try bind(listener, to: own)
        guard srt_listen(listener, 1) >= 0 else { throw trouble.error(operation: "srt_listen") }
        var accepted: SRTSOCKET = SRT_INVALID_SOCK
        try wait(for: SRT_EPOLL_IN, on: listener) {
            accepted = srt_accept(listener, nil, nil)
            return accepted != SRT_INVALID_SOCK
        }
        srt_close(listener)
        try set(SRTO_SNDSYN, false, accepted)
        return accepted
    }

    private func bind(_ socket: SRTSOCKET, to own: SocketAddress) throws(InletError) {
        // `::` includes all IPv4 addresses, whatever the system's default (net.ipv6.bindv6only). Without this option,
        // libsrt rejects it from 1.5.2 on (https://github.com/Haivision/srt/issues/2764).
        if own.family == AF_INET6 { try set(SRTO_IPV6ONLY, Int32(0), socket) }
        guard unsafe own.call({ unsafe srt_bind(socket, $0, $1) }) >= 0 else {
            throw trouble.error(operation: "srt_bind")
        }
    }

    /// Waits until a condition holds. It is checked whenever the socket has changed.
    private func wait(
        for event: SRT_EPOLL_OPT, on socket: SRTSOCKET, until isSo: () -> Bool
    ) throws(InletError) {
        var wanted = Int32(bitPattern: event.rawValue | SRT_EPOLL_ERR.rawValue)
        guard unsafe srt_epoll_add_usock(events, socket, &wanted) >= 0 else {
            throw trouble.error(operation: "srt_epoll_add_usock")
        }
        defer { srt_epoll_remove_usock(events, socket) }
        while !isSo() {
            let state = srt_getsockstate(socket)
            guard state.rawValue < SRTS_BROKEN.rawValue else { throw trouble.broken(socket) }
            guard !deadline.isOver else { throw trouble.timedOut(isListening: state == SRTS_LISTENING) }
            _ = pause()
        }
    }

    /// Waits for the sockets' watched events, for at most a slice of time. Returns whether one has occurred.
    private func pause() -> Bool {
        var ready = SRT_EPOLL_EVENT(fd: SRT_INVALID_SOCK, events: 0)
        let time = min(Self.slice, deadline.remaining).milliseconds
        return unsafe srt_epoll_uwait(events, &ready, 1, Int64(max(1, time))) > 0
    }

    // MARK: Writing

    /// Creates libavformat's view. Its buffer is as long as a packet, so that each packet is sent as soon as it is
    /// full.
    private func makeView() throws(InletError) {
        var size: Int32 = 0
        var length = Int32(MemoryLayout<Int32>.size)
        _ = unsafe srt_getsockflag(socket, SRTO_PAYLOADSIZE, &size, &length)
        // A stream has no payload size.
        if size <= 0 { size = SRT_LIVE_DEF_PLSIZE }
        let buffer = unsafe av_malloc(Int(size))
        if let buffer = unsafe buffer {
            unsafe io = inlet_avio_output(
                buffer.assumingMemoryBound(to: UInt8.self), size, Unmanaged.passUnretained(self).toOpaque(),
                { opaque, data, count in
                    guard let opaque = unsafe opaque, let data = unsafe data else { return -EINVAL }
                    let output = unsafe Unmanaged<SRTOutput>.fromOpaque(opaque).takeUnretainedValue()
                    return unsafe output.write(UnsafeRawBufferPointer(start: data, count: Int(count)))
                }, nil)
        }
        guard let io = unsafe io else {
            unsafe av_free(buffer)
            throw InletError(ffmpeg: -ENOMEM, operation: "avio_alloc_context")
        }
        unsafe io.pointee.max_packet_size = size
        unsafe io.pointee.seekable = 0
    }

    /// Sends all bytes. Returns their number, or an AVERROR.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        do throws(InletError) {
            try check()
            try listen()
            var rest = unsafe bytes[...]
            while unsafe !rest.isEmpty {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
                let count = unsafe srt_sendmsg2(
                    socket, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: piece.count), nil)
                if count > 0 {
                    unsafe rest = rest.dropFirst(Int(count))
                } else if srt_getlasterror(nil) == SRT_EASYNCSND.rawValue {
                    try waitForRoom()
                } else {
                    throw trouble.broken(socket)
                }
            }
            return Int32(clamping: bytes.count)
        } catch {
            failure = error
            return -EIO
        }
    }

    private func waitForRoom() throws(InletError) {
        var wanted = Int32(bitPattern: SRT_EPOLL_OUT.rawValue | SRT_EPOLL_ERR.rawValue)
        guard unsafe srt_epoll_add_usock(events, socket, &wanted) >= 0 else { throw trouble.broken(socket) }
        defer { srt_epoll_remove_usock(events, socket) }
        while !pause() {
            guard !deadline.isOver else { throw trouble.silent(after: settings.writeTimeout) }
        }
    }

    /// Checks whether the peer still acknowledges sent data.
    private func listen() throws(InletError) {
        let now = ContinuousClock.now - origin
        guard silence.isDue(at: now) else { return }
        var figures = SRT_TRACEBSTATS()
        guard unsafe srt_bistats(socket, &figures, 0, 1) >= 0 else { throw trouble.broken(socket) }
        let seen = SRTSilence.Figures(
            answers: Int64(figures.pktRecvACKTotal) + Int64(figures.pktRecvNAKTotal),
            waiting: Int64(figures.pktSndBuf), dropped: Int64(figures.pktSndDropTotal))
        guard silence.note(seen, at: now) < settings.writeTimeout else {
            throw trouble.silent(after: settings.writeTimeout)
        }
    }

    // MARK: Ending

    /// The time that the end of a stream may take: two seconds plus the peer's latency for sent data, but no longer
    /// than a write.
    var closingTime: Duration { min(settings.writeTimeout, peerLatency + .seconds(2)) }

    /// The time by which the peer delays received data.
    private var peerLatency: Duration {
        var latency: Int32 = 0
        var length = Int32(MemoryLayout<Int32>.size)
        guard unsafe srt_getsockflag(socket, SRTO_PEERLATENCY, &latency, &length) >= 0 else { return .zero }
        return .milliseconds(Int(max(0, latency)))
    }

    /// Waits, at most until the deadline, until the peer has received all data and has had time to deliver it. A
    /// receiver discards delayed data when the connection ends.
    ///
    /// - Returns: the loss, as a message for users; nil if none is known.
    func finish() -> String? {
        guard failure == nil, socket != SRT_INVALID_SOCK else { return nil }
        var count = pending() ?? 0
        while count > 0, isConnected, !deadline.isOver {
            rest(.milliseconds(10))
            count = pending() ?? count
        }
        guard count == 0 else {
            return "The end of the stream is lost: the server has not acknowledged \(count) packets"
                + (isConnected ? " in time. Set a longer write-timeout." : ", and the connection is gone.")
        }
        let latency = peerLatency
        let end = ContinuousClock.now + latency + .milliseconds(50)
        while ContinuousClock.now < end, isConnected {
            guard !deadline.isOver else {
                return "The end of the stream may be lost: the server holds it back for \(latency.optionText). "
                    + "Set a write-timeout that is at least two seconds longer."
            }
            rest(.milliseconds(10))
        }
        return nil
    }

    private var isConnected: Bool { srt_getsockstate(socket) == SRTS_CONNECTED }

    /// Returns the number of packets that the peer has not acknowledged; nil if the connection is gone.
    private func pending() -> Int? {
        var packets = 0
        return unsafe srt_getsndbuffer(socket, &packets, nil) < 0 ? nil : packets
    }

    /// Sleeps. Only used at the end of a stream: libsrt has no event for acknowledgements, so they are polled.
    private func rest(_ time: Duration) {
        usleep(UInt32(clamping: time.wholeNanoseconds / 1000))
    }

    /// Closes the connection. Queued data is lost.
    func close() {
        if let io = unsafe io {
            unsafe av_free(io.pointee.buffer)
            unsafe avio_context_free(&self.io)
        }
        if socket != SRT_INVALID_SOCK { srt_close(socket) }
        socket = SRT_INVALID_SOCK
        if events >= 0 { srt_epoll_release(events) }
        events = -1
    }
}
