import CFFmpeg
import FoundationEssentials
import InletCore
import InletFFmpeg
import Synchronization

// Unsafe: provides libavformat's callbacks for the inputs that an input opens itself.
/// Monitors the inputs that an input opens itself, such as the playlists and segments of HLS, and their addresses.
///
/// Safe from any thread. It must outlive the input that it watches.
@safe final class NestedInputs: Sendable {
    private typealias Open =
        @convention(c) (
            UnsafeMutablePointer<AVFormatContext>?, UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
            UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32

    /// Whether plain-text connections are forbidden.
    private let isSecure: Bool
    /// The protocols that nested inputs may use.
    private let protocols: Set<String>
    /// Whether the input is a plain stream of bytes over TCP or TLS.
    private let isPlain: Bool
    /// The settings for HTTP; nil if the input does not use HTTP.
    private let http: HTTPSettings?
    private let count = Atomic(0)
    /// The error that ends the stream.
    private let verdict = Mutex(InletError?.none)
    /// The flag that the stream must end, for the interruption, which does not own this object.
    let ending = Ending()
    /// The interruption, which a connection checks while it is closed at the end; nil before `watch`.
    private let interruption = Mutex(Interruption?.none)
    // Written by `watch`, before libavformat can call back.
    nonisolated(unsafe) private var original: Open?
    // Used on one thread at a time: by `watch`, then by the thread that opens the input, then by the thread that reads
    // and releases it.
    nonisolated(unsafe) private var session: HTTPSession?
    nonisolated(unsafe) private var first: UnsafeMutablePointer<AVIOContext>?
    private let found = Mutex(Found())

    /// The results of opening the input.
    private struct Found {
        var demuxer: String?
        var pollRate: Rational?
    }

    /// Whether a stream must end. Safe from any thread.
    final class Ending: Sendable {
        private let isOver = Atomic(false)

        var isSet: Bool { isOver.load(ordering: .relaxed) }

        func set() { isOver.store(true, ordering: .relaxed) }
    }

    /// The maximum number of inputs before a packet arrives. If there are more, a playlist refers to itself.
    private static let most = 256

    init(_ network: FFmpegNetworkConfiguration) throws(InletError) {
        isSecure = network.scheme == "https"
        protocols = network.allowedProtocols
        isPlain = ["tcp", "tls"].contains(network.scheme)
        http = network.isHTTP ? try HTTPSettings(network, environment: ProcessInfo.processInfo.environment) : nil
    }

    deinit {
        if let first = unsafe first { unsafe HTTPInput.close(first) }
    }

    /// The demuxer to use; nil if libavformat should find it.
    var demuxer: String? { found.withLock { $0.demuxer } }

    /// The rate at which a still picture is requested, in pictures per second; nil unless it is a still picture.
    var pollRate: Rational? { found.withLock { $0.pollRate } }

    /// Whether the stream must end: see ``check()``.
    var mustEnd: Bool { ending.isSet }

    private func end(_ error: InletError) {
        verdict.withLock { $0 = $0 ?? error }
        ending.set()
    }

    /// Called when a packet has arrived.
    func notePacket() { count.store(0, ordering: .relaxed) }

    /// - Parameter interruption: bounds all waiting. This object keeps it.
    @unsafe func watch(
        _ input: UnsafeMutablePointer<AVFormatContext>, _ interruption: Interruption
    ) throws(InletError) {
        self.interruption.withLock { $0 = interruption }
        if let http, unsafe session == nil {
            unsafe session = try HTTPSession(http, interruption) { [unowned self] in end($0) }
        }
        unsafe original = input.pointee.io_open
        unsafe input.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        unsafe input.pointee.io_open = { input, io, url, flags, options in
            guard let opaque = unsafe input?.pointee.opaque else { return inlet_averror_exit }
            return unsafe Unmanaged<NestedInputs>.fromOpaque(opaque).takeUnretainedValue()
                .openNested(input, io, url, flags, options)
        }
        guard unsafe session != nil else { return }
        unsafe input.pointee.io_close2 = { _, io in
            if let io = unsafe io { unsafe HTTPInput.close(io) }
            return 0
        }
    }

    /// Opens the input's own address if it uses HTTP or a plain stream of bytes, because libavformat would not return
    /// the result of `io_open` for it.
    ///
    /// - Parameter options: the options of libavformat's protocol, which are not changed.
    /// - Returns: 0, or libavformat's code.
    @unsafe func openFirst(
        _ input: UnsafeMutablePointer<AVFormatContext>?, _ url: String, _ options: OpaquePointer?
    ) -> Int32 {
        let code: Int32
        if unsafe session != nil {
            count.add(1, ordering: .relaxed)
            let (start, end) = (http?.offset ?? 0, http?.end)
            code = unsafe openHTTP(&first, url, start: start, end: end, cipher: nil, isFirst: true)
        } else if isPlain {
            code = unsafe openPlain(input, url, options)
        } else {
            return 0
        }
        guard code >= 0 else { return code }
        unsafe input?.pointee.pb = first
        unsafe input?.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        return 0
    }

    /// - Throws: the error that ends the stream.
    func check() throws(InletError) {
        guard mustEnd else { return }
        if let error = verdict.withLock({ $0 }) { throw error }
    }

    @unsafe private func openNested(
        _ input: UnsafeMutablePointer<AVFormatContext>?,
        _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?, _ url: UnsafePointer<CChar>?, _ flags: Int32,
        _ options: UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32 {
        if count.add(1, ordering: .relaxed).newValue > Self.most {
            end(
                InletError(
                    .malformedData,
                    "The server sends no video, but an endless series of other data, such as playlists that refer to playlists."
                ))
        }
        let asked = unsafe url.map { unsafe String(cString: $0) } ?? ""
        note(asked[...])
        guard let original = unsafe original, !mustEnd else { return inlet_averror_exit }
        guard unsafe session != nil else { return unsafe original(input, io, url, flags, options) }
        guard let io = unsafe io else { return inlet_averror_exit }
        let isEncrypted = asked.hasBytePrefix("crypto")
        let start = unsafe Self.text("offset", in: options).flatMap { Int64($0) } ?? 0
        let end = unsafe Self.text("end_offset", in: options).flatMap { Int64($0) }
        // A playlist may state any range, and libavformat adds its numbers.
        guard start >= 0, end.map({ $0 > start }) ?? true else { return inlet_averror_invaliddata }
        var cipher: SegmentCipher?
        if isEncrypted {
            let key = unsafe Self.text("key", in: options) ?? Self.text("decryption_key", in: options)
            let vector = unsafe Self.text("iv", in: options) ?? Self.text("decryption_iv", in: options)
            cipher = SegmentCipher(key: key ?? "", vector: vector ?? "")
            guard cipher != nil else { return inlet_averror_invaliddata }
        }
        let address = isEncrypted ? String(asked.dropFirst("crypto+".utf8.count)) : asked
        return unsafe openHTTP(io, address, start: start, end: end, cipher: cipher)
    }

    /// Opens an input over HTTP. A playlist is read, checked and then served from memory.
    @unsafe private func openHTTP(
        _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>, _ url: String, start: Int64, end: Int64?,
        cipher: SegmentCipher?, isFirst: Bool = false
    ) -> Int32 {
        guard let session = unsafe session, let address = HTTPAddress(url) else { return -EINVAL }
        let opened = HTTPInput(session, address, start: start, end: end, cipher: cipher)
        let code = opened.open()
        guard code >= 0 else { return code }
        if session.leader == .user { session.leader = opened.leader }
        guard let new = unsafe opened.makeIO() else { return -ENOMEM }
        let beginning = cipher == nil ? unsafe Self.beginning(of: new) : []
        guard beginning == PlaylistCheck.mark else {
            unsafe io.pointee = new
            let content = MotionJPEGContent(beginning, contentType: opened.contentType)
            guard isFirst, unsafe takePictures(content, opened) else { return 0 }
            return unsafe convert(&io.pointee)
        }
        // This server's playlist names the next addresses.
        session.leader = session.leader.orMorePublic(opened.leader)
        let playlist = unsafe readPlaylist(new).flatMap {
            PlaylistCheck.accept($0, base: opened.wasLed ? opened.location : nil)
        }
        unsafe HTTPInput.close(new)
        unsafe io.pointee = playlist.flatMap { unsafe Self.memory($0) }
        if unsafe io.pointee != nil { return 0 }
        self.end(InletError(.malformedData, "The playlist is invalid, empty or longer than 4 MB."))
        return inlet_averror_exit
    }

    /// Opens a stream of bytes and checks whether it is Motion JPEG.
    @unsafe private func openPlain(
        _ input: UnsafeMutablePointer<AVFormatContext>?, _ url: String, _ options: OpaquePointer?
    ) -> Int32 {
        var copy: OpaquePointer?
        defer { unsafe av_dict_free(&copy) }
        unsafe av_dict_copy(&copy, options, 0)
        guard var callback = unsafe input?.pointee.interrupt_callback else { return -EINVAL }
        let code = unsafe avio_open2(&first, url, AVIO_FLAG_READ, &callback, &copy)
        guard code >= 0, let opened = unsafe first else { return code }
        return unsafe MotionJPEGContent(Self.beginning(of: opened), contentType: "").isStream ? convert(&first) : 0
    }

    /// Returns whether ``MotionJPEGInput`` must read the pictures of an input over HTTP.
    @unsafe private func takePictures(_ content: MotionJPEGContent, _ opened: HTTPInput) -> Bool {
        let isFile = opened.hasLength
        if content.isStill(hasLength: isFile) {
            guard opened.isWhole, let interval = http?.pollInterval else { return false }
            opened.poll(every: interval)
            found.withLock { $0.pollRate = Rational(1_000_000_000, Int(clamping: interval.wholeNanoseconds)) }
            return true
        }
        return content.isStream && !(opened.isSeekable && isFile)
    }

    /// Replaces an input with one that reads its pictures.
    @unsafe private func convert(_ io: inout UnsafeMutablePointer<AVIOContext>?) -> Int32 {
        guard let inner = unsafe io else { return 0 }
        unsafe io = nil
        unsafe io = MotionJPEGInput(reading: inner).makeIO()
        found.withLock { $0.demuxer = MotionJPEGInput.demuxer }
        return unsafe io == nil ? -ENOMEM : 0
    }

    @unsafe private static func text(_ name: String, in options: UnsafeMutablePointer<OpaquePointer?>?) -> String? {
        unsafe av_dict_get(options?.pointee, name, nil, 0)?.pointee.value.map { unsafe String(cString: $0) }
    }

    /// Checks an address that a playlist refers to.
    private func note(_ url: Substring) {
        let scheme = url.prefix(whileByte: { !":+".utf8.contains($0) }).lowercasedASCII
        // The protocol of encrypted segments follows `crypto+`: crypto+https://host/path.
        if scheme == "crypto" { note(Substring(url.utf8.dropFirst(scheme.utf8.count + 1))) }
        guard !protocols.contains(scheme) else { return }
        end(
            isSecure && scheme == "http"
                ? InletError(
                    .tlsFailed, "The server redirects from https to http, where others can read and change the stream.")
                : InletError(
                    .malformedData,
                    "The server refers to something that a network stream must not open, such as a local file."
                ))
    }

    /// Returns the first bytes and rewinds; they stay in the buffer.
    @unsafe private static func beginning(of io: UnsafeMutablePointer<AVIOContext>) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: PlaylistCheck.mark.count)
        let count = unsafe avio_read(io, &bytes, Int32(bytes.count))
        return unsafe avio_seek(io, 0, SEEK_SET) == 0 && count > 0 ? Array(bytes.prefix(Int(count))) : []
    }

    /// Returns the whole playlist; nil if it is too long or truncated.
    @unsafe private func readPlaylist(_ io: UnsafeMutablePointer<AVIOContext>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 32_768)
        while bytes.count <= PlaylistCheck.mostBytes {
            let count = unsafe avio_read(io, &piece, Int32(piece.count))
            if count == inlet_averror_eof || count == 0 { return bytes }
            guard count > 0 else { return nil }
            bytes += piece[..<Int(count)]
        }
        return nil
    }

    /// Returns an input whose data is entirely in its buffer, which `avio_close` frees as usual.
    @unsafe private static func memory(_ bytes: [UInt8]) -> UnsafeMutablePointer<AVIOContext>? {
        guard let buffer = unsafe av_malloc(bytes.count)?.assumingMemoryBound(to: UInt8.self) else { return nil }
        unsafe buffer.update(from: bytes, count: bytes.count)
        guard let io = unsafe avio_alloc_context(buffer, Int32(bytes.count), 0, nil, nil, nil, nil) else {
            unsafe av_free(buffer)
            return nil
        }
        unsafe io.pointee.buf_end = io.pointee.buffer + bytes.count
        return unsafe io
    }
}
