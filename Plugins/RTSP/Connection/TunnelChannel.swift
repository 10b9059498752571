import InletCore
import InletRTSP

// Unsafe: owns the memory of received answers.
/// RTSP in HTTP, over two connections. ``HTTPTunnel`` makes the decisions.
///
/// Once the tunnel is open, the server's bytes are read in place, because HTTP adds nothing to them.
@safe final class TunnelChannel: ByteChannel {
    private var tunnel: HTTPTunnel
    private let dialing: Dialing
    private var getLeg: DialedChannel
    /// The connection of the POST; nil without one.
    private var postLeg: DialedChannel?
    private var hasEnded = false
    /// Whether a message is waiting until the POST can carry it.
    private var isAwaited = false
    /// Receives the responses to the POST, of which only the heads matter.
    private let answer: UnsafeMutableRawBufferPointer

    /// Starts a tunnel over an established connection, which carries the GET.
    init(over socket: TCPChannel, _ tunnel: HTTPTunnel, _ dialing: Dialing) throws(InletError) {
        self.tunnel = tunnel
        self.dialing = dialing
        getLeg = try DialedChannel(socket, dialing)
        unsafe answer = .allocate(byteCount: 4096, alignment: 16)
        try getLeg.send { $0 += self.tunnel.connected(.get) }
    }

    deinit { unsafe answer.deallocate() }

    var descriptor: Int32 { getLeg.descriptor }
    var wantsOutput: Bool { getLeg.wantsOutput }
    /// False, because sent bytes do not go through ``descriptor``.
    var canSend: Bool { false }
    var hasBuffered: Bool { getLeg.hasBuffered || (!tunnel.isConfirmed && postLeg?.hasBuffered == true) }

    /// The connection of the POST, while it has something to do. Afterwards its end is noticed before the next
    /// message.
    var second: PolledDescriptor? {
        guard let postLeg, postLeg.wantsOutput || isAwaited || !tunnel.isConfirmed else { return nil }
        let canCarry = isAwaited && tunnel.canSend && postLeg.isSent
        return PolledDescriptor(
            number: postLeg.descriptor, wantsInput: true, wantsOutput: postLeg.wantsOutput || canCarry)
    }

    func flush() throws(InletError) {
        try getLeg.flush()
        try attendToPost()
    }

    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome {
        guard !hasEnded else { return .ended }
        let outcome = unsafe try getLeg.read(into: target)
        guard case .bytes(let count) = outcome else {
            guard outcome == .ended else { return outcome }
            hasEnded = true
            if !tunnel.isCarrying { try perform(tunnel.ended(.get)) }
            return .ended
        }
        if tunnel.isCarrying {
            tunnel.noteArrival()
            return outcome
        }
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: target[..<min(count, target.count)])
        let (consumed, action) = unsafe try tunnel.receive(bytes.bytes, on: .get)
        try perform(action)
        guard tunnel.isCarrying, consumed < bytes.count else { return .wouldBlock }
        // Only the bytes that arrived with the head of the response are moved.
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[consumed...]))
        return .bytes(bytes.count - consumed)
    }

    @unsafe func write(_ bytes: UnsafeRawBufferPointer) throws(InletError) -> Int {
        try attendToPost()
        try perform(tunnel.reopen())
        // All or nothing, because base64 must not end within a message.
        guard tunnel.canSend, let postLeg, postLeg.isSent else {
            isAwaited = true
            return 0
        }
        isAwaited = false
        let message = unsafe Array(bytes)
        do throws(InletError) {
            try postLeg.send { tunnel.encode(message, into: &$0) }
        } catch {
            try perform(postFailed(error))
        }
        return bytes.count
    }

    /// Continues the connection of the POST, and reads the server's responses.
    private func attendToPost() throws(InletError) {
        guard let postLeg else { return }
        let outcome: ReadOutcome
        do throws(InletError) {
            try postLeg.flush()
            // Once per call, so that a server that sends endlessly does not block the caller.
            outcome = unsafe try postLeg.read(into: answer)
        } catch {
            return try perform(postFailed(error))
        }
        switch outcome {
        case .wouldBlock: break
        case .ended: try perform(tunnel.ended(.post))
        case .bytes(let count):
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: answer[..<min(count, answer.count)])
            try perform(unsafe tunnel.receive(bytes.bytes, on: .post).action)
        }
    }

    /// Returns the next step after the connection of the POST broke.
    ///
    /// - Throws: the error itself if the tunnel cannot continue without it.
    private func postFailed(_ error: InletError) throws(InletError) -> HTTPTunnel.Action? {
        guard error.code == .disconnected, tunnel.isConfirmed else { throw error }
        return try tunnel.ended(.post)
    }

    private func perform(_ action: HTTPTunnel.Action?) throws(InletError) {
        switch action {
        case .connect(.get):
            getLeg = try DialedChannel(dialing)
            try getLeg.send { $0 += tunnel.connected(.get) }
        case .connect(.post):
            let leg = try DialedChannel(dialing)
            postLeg = leg
            try leg.send { $0 += tunnel.connected(.post) }
        case .drop(.post): postLeg = nil
        case .drop(.get), nil: break
        }
    }
}
