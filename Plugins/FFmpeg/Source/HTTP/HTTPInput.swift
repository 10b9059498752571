import CCurl
import CFFmpeg
import InletCore
import InletFFmpeg
import InletNetwork

// Unsafe: copies received bytes into libavformat's memory.
/// A resource on a server as libavformat reads it: a file, a stream, a playlist or a segment.
///
/// Confined to the thread of its ``HTTPSession``.
@safe final class HTTPInput {
    private let session: HTTPSession
    /// The current address, after redirects.
    private var address: HTTPAddress
    private var hasCredentials: Bool
    private(set) var leader: HTTPLeader
    /// The end of the wanted part, which is the first byte after it; nil for the end of the resource.
    private let end: Int64?
    /// Whether the wanted part begins after the first byte of the resource.
    private let isPart: Bool
    private var transfer: HTTPTransfer?
    private var position: Int64
    /// The offset from which the current transfer was requested.
    private var requested: Int64
    private var size: Int64?
    /// Whether another part can be requested.
    private(set) var isSeekable = false
    /// The content type that the server states.
    private(set) var contentType = ""
    private let cipher: SegmentCipher?
    private var isCipherDone = false
    private var plain: [UInt8] = []
    private var plainStart = 0
    /// Whether a redirect was followed.
    private(set) var wasLed = false
    /// The interval at which the picture is requested again; nil unless it is a still picture.
    private var pollInterval: Duration?
    /// The time when the still picture was last requested.
    private var polled = MonotonicTime.distantFuture
    /// The version of the latest picture, to which the next request refers.
    private var validators = HTTPValidators()

    /// Whether the input is neither a part nor encrypted. Otherwise it cannot be rewound.
    var isWhole: Bool { cipher == nil && end == nil && !isPart }

    /// Whether the server stated the length of the resource.
    var hasLength: Bool { size != nil }

    /// The current address, without credentials.
    var location: String { address.url }

    /// The number of bytes read at a time.
    static let bufferSize: Int32 = 65_536
    /// The longest step forward that is made by reading, because another request would take longer.
    private static let shortSeek: Int64 = 256 << 10

    /// Creates an input that has requested nothing yet.
    ///
    /// - Parameters:
    ///   - start: the beginning of the wanted part.
    ///   - end: the end of the part, which is the first byte after it; nil for the end of the resource.
    init(
        _ session: HTTPSession, _ address: HTTPAddress, start: Int64 = 0, end: Int64? = nil,
        cipher: SegmentCipher? = nil
    ) {
        self.session = session
        self.address = address
        self.end = end
        self.cipher = cipher
        (position, requested) = (start, start)
        isPart = start > 0
        hasCredentials = session.isHome(address)
        leader = session.leader
    }

    deinit { stop() }

    private func stop() {
        if let transfer { session.end(transfer) }
        transfer = nil
    }

    // MARK: Requests

    /// Sends the request and waits for the response.
    ///
    /// - Returns: 0, or libavformat's code. ``FFmpegLogging/takeFacts()`` returns facts for which libavformat has no
    ///   code.
    func open() -> Int32 { request(from: position) }

    /// Requests the resource from an offset. If that fails, the previous transfer continues to be read.
    private func request(from offset: Int64) -> Int32 {
        let before = (address, hasCredentials, leader)
        let code = requestAnew(from: offset)
        if code < 0 { (address, hasCredentials, leader) = before }
        return code
    }

    /// - Returns: 0, ``unchanged`` if a still picture is the same as before, or libavformat's code.
    private func requestAnew(from offset: Int64) -> Int32 {
        polled = session.now
        let hasRange = pollInterval == nil && (session.settings.isSeekable != false || offset > 0)
        for _ in 0...NetworkRedirect.most {
            let transfer: HTTPTransfer
            do throws(InletError) {
                transfer = try session.begin(
                    HTTPTransfer.Request(
                        address: address, range: hasRange ? (offset, end) : nil, hasCredentials: hasCredentials,
                        leader: leader, validators: pollInterval == nil ? HTTPValidators() : validators))
            } catch { return -ENOMEM }
            defer { if self.transfer !== transfer { session.end(transfer) } }
            guard session.drive(until: { transfer.isAnswered }) else { return inlet_averror_exit }
            let answer = transfer.answer
            if answer.isWhole && answer.isSuccess { return accept(answer, of: transfer, offset) }
            if answer.isWhole && answer.status == 304 && pollInterval != nil { return Self.unchanged }
            guard answer.isWhole && answer.isRedirect else { return failure(of: transfer) }
            let code = follow(answer, of: transfer)
            if code < 0 { return code }
        }
        return refuse(NetworkRedirect.endless)
    }

    private func accept(_ answer: HTTPAnswer, of transfer: HTTPTransfer, _ offset: Int64) -> Int32 {
        let start = answer.status == 206 ? answer.part?.start ?? offset : 0
        // A server that returns the whole resource does not support parts.
        guard start == offset else { return -EIO }
        stop()
        self.transfer = transfer
        (position, requested) = (offset, offset)
        leader = leader.orMorePublic(transfer.connectedTo)
        contentType = answer.contentType ?? ""
        validators = answer.validators
        if let whole = answer.size { size = whole } else if pollInterval != nil { size = nil }
        isSeekable = pollInterval == nil && session.settings.isSeekable != false && answer.isSeekable
        if hasCredentials, transfer.offersBasicAlone { session.takesBasicAlone = true }
        return 0
    }

    /// Follows the redirect of a response.
    private func follow(_ answer: HTTPAnswer, of transfer: HTTPTransfer) -> Int32 {
        guard let target = answer.location, !target.utf8.isEmpty else { return -EINVAL }
        let found = address.leading(to: target)
        do throws(InletError) {
            // Called for its errors: unsupported protocols, and steps from TLS to plain text.
            _ = try NetworkRedirect.follow(
                from: NetworkAddress(address.url),
                to: found?.url ?? target.split(atByte: " ").joined(separator: "%20"), protocols: ["http", "https"])
        } catch { return refuse(error) }
        guard let next = found else { return -EINVAL }
        leader = leader.orMorePublic(transfer.connectedTo)
        hasCredentials = hasCredentials && next.isSameOrigin(as: address)
        address = next
        wasLed = true
        return 0
    }

    private func refuse(_ error: InletError) -> Int32 {
        session.refuse(error)
        return inlet_averror_exit
    }

    /// Returns the code for a failed transfer.
    private func failure(of transfer: HTTPTransfer) -> Int32 {
        // If a permitted address of a host does not answer, the rejection of its other addresses is not the reason.
        if transfer.isRefused, let result = transfer.result,
            result == CURLE_ABORTED_BY_CALLBACK || result == CURLE_COULDNT_CONNECT && transfer.triedAddresses == 0
        {
            return refuse(AddressPolicy.refusal)
        }
        let failure = HTTPFailure(transfer)
        FFmpegLogging.note(failure.facts)
        if failure.facts.status == 401, session.settings.user != nil, !hasCredentials {
            return refuse(NetworkRedirect.strangersRefusal)
        }
        return failure.code
    }

    // MARK: Still pictures

    /// The result of ``requestAnew(from:)`` if the server has no new picture.
    private static let unchanged: Int32 = 1

    /// Requests the picture again at its end, at an interval, so that the next picture's data follows.
    func poll(every interval: Duration) {
        pollInterval = interval
        isSeekable = false
    }

    /// Waits for the time of the next request and repeats the request until there is a new picture.
    ///
    /// - Returns: as ``receiveOnce(_:)``.
    @unsafe private func receiveNext(_ buffer: UnsafeMutableRawBufferPointer, every interval: Duration) -> Int32 {
        while true {
            guard session.sleep(until: max(polled + interval, session.now)) else { return inlet_averror_exit }
            let code = request(from: 0)
            if code < 0 { return code }
            if code == Self.unchanged {
                session.noteAnswer()
                continue
            }
            let count = unsafe receiveOnce(buffer)
            // There is no picture yet, and the read limit continues.
            if count == inlet_averror_eof { continue }
            // A camera whose login has expired responds with a page.
            if count > 1, unsafe buffer[0] != 0xFF || buffer[1] != 0xD8 { return inlet_averror_invaliddata }
            session.noteAnswer()
            return count
        }
    }

    // MARK: Reading

    /// Reads into the buffer. libavformat's callback.
    @unsafe func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        guard cipher != nil else { return unsafe receive(buffer) }
        while plainStart >= plain.count {
            if isCipherDone { return inlet_averror_eof }
            let code = decryptMore()
            if code < 0 { return code }
        }
        let count = min(buffer.count, plain.count - plainStart)
        unsafe plain.withUnsafeBytes {
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[plainStart..<(plainStart + count)]))
        }
        plainStart += count
        return Int32(count)
    }

    private func decryptMore() -> Int32 {
        var bytes = [UInt8](repeating: 0, count: Int(Self.bufferSize))
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe receive($0) }
        plainStart = 0
        if count == inlet_averror_eof {
            isCipherDone = true
            guard let last = cipher?.finish() else { return inlet_averror_invaliddata }
            plain = last
        } else if count >= 0 {
            plain = cipher?.decrypt(bytes[..<Int(count)]) ?? []
        } else {
            return count
        }
        return 0
    }

    /// Waits for bytes, the end or a failure.
    @unsafe private func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        var delay = Duration.zero
        var code = unsafe receiveOnce(buffer)
        if code == inlet_averror_eof, let pollInterval {
            return unsafe receiveNext(buffer, every: pollInterval)
        }
        while code < 0, ![inlet_averror_eof, inlet_averror_exit].contains(code), session.settings.reconnects,
            // Encrypted data is chained, so it cannot be resumed in the middle.
            isSeekable || session.settings.reconnectsStreams && cipher == nil,
            delay <= session.settings.longestReconnectDelay, session.pause(delay)
        {
            delay = .seconds(1) + delay * 2
            _ = FFmpegLogging.takeFacts()
            code = request(from: isSeekable ? position : 0)
            if code >= 0 { code = unsafe receiveOnce(buffer) }
        }
        return code
    }

    @unsafe private func receiveOnce(_ buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        if let end, position >= end { return inlet_averror_eof }
        guard let transfer else { return position >= size ?? .max ? inlet_averror_eof : -EIO }
        let most = end.map { Int(clamping: $0.subtracting(saturating: position)) } ?? .max
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, most)])
        guard let count = unsafe transfer.read(into: part, wait: { session.drive(until: $0) }) else {
            return inlet_averror_exit
        }
        if count > 0 {
            position = position.adding(saturating: Int64(count))
            return Int32(clamping: count)
        }
        guard transfer.result == CURLE_OK else { return failure(of: transfer) }
        guard let size, position < min(size, end ?? size) else { return inlet_averror_eof }
        // The server sent less than requested. The rest is requested as long as there is progress.
        guard isSeekable, position > requested else { return -EIO }
        let code = request(from: position)
        return code < 0 ? code : unsafe receiveOnce(buffer)
    }

    /// Seeks to an offset, or returns the length of the resource. libavformat's callback.
    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        if whence & AVSEEK_SIZE != 0 { return size ?? Int64(-ENOSYS) }
        guard isSeekable, isWhole else { return Int64(-ENOSYS) }
        let base: Int64
        switch whence & ~AVSEEK_FORCE {
        case SEEK_SET: base = 0
        case SEEK_CUR: base = position
        case SEEK_END:
            guard let size else { return Int64(-ENOSYS) }
            base = size
        default: return Int64(-EINVAL)
        }
        let target = base.adding(saturating: offset)
        guard target >= 0 else { return Int64(-EINVAL) }
        // There is nothing to request at that offset; the next read reports the end.
        if let size, target >= size {
            stop()
            position = target
            return target
        }
        if target == position, transfer != nil { return target }
        if target > position, target - position <= Self.shortSeek, skip(to: target) { return target }
        let code = request(from: target)
        return code < 0 ? Int64(code) : target
    }

    /// Reads up to an offset. Returns false if that failed.
    private func skip(to target: Int64) -> Bool {
        guard transfer != nil else { return false }
        var bytes = [UInt8](repeating: 0, count: Int(Self.shortSeek))
        while position < target {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe receiveOnce(UnsafeMutableRawBufferPointer(rebasing: $0[..<Int(target - position)]))
            }
            guard count > 0 else { return false }
        }
        return true
    }
}
