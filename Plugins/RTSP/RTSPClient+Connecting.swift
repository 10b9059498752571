import InletCore
import InletFFmpeg
import InletRTSP

/// Connections to the server.
extension RTSPClient {
    /// Connects to the target of a redirect, or to the same address for another session.
    func reconnect(to url: RTSPURL, until end: MonotonicTime) throws(InletError) {
        if connection != nil { recorder?.close(.left, at: now) }
        (connection, sockets, stream, established) = (nil, nil, nil, nil)
        (playingSince, hasMedia, waitingSince) = (nil, false, now)
        addresses.lead(to: url, from: remote)
        connection = try connect(to: url, until: openingEnd ?? now + configuration.connectTimeout)
        recorder?.open(isSecure: url.isSecure, at: now)
        connection?.recorder = recorder
        try perform(session.handle(.connected, at: now), until: end)
    }

    /// Tries another address of the server if this one accepted the connection but does not answer in time.
    func leaveSilentAddress(until end: MonotonicTime) throws(InletError) {
        guard let answerDeadline, now >= answerDeadline, let remote else { return }
        self.answerDeadline = nil
        guard connection?.hasReceived == false else { return }
        addresses.noteSilence(of: remote)
        try perform(session.handle(.unanswered, at: now), until: end)
    }

    /// Connects to a server. In a capture, moves to the next recorded connection.
    func connect(to url: RTSPURL, until end: MonotonicTime) throws(InletError) -> RTSPConnection {
        if let replay { return RTSPConnection(try replay.connect()) }
        do throws(InletError) {
            return try connectToServer(url, until: end)
        } catch {
            recorder?.close(.failed(error.code), at: now)
            throw error
        }
    }

    private func connectToServer(_ url: RTSPURL, until end: MonotonicTime) throws(InletError) -> RTSPConnection {
        let host = String(decoding: url.hostWithZone, as: UTF8.self)
        let allowed = addresses
        let way = HostConnection(host: host, port: configuration.port(of: url)) { allowed.allows($0) }
        let (socket, count) = try way.connect(until: end, wait)
        let left = max(.zero, (openingEnd ?? end) - now)
        answerDeadline = count > 1 ? now + left / count : nil
        remote = socket.remoteAddress?.ip
        local = socket.localAddress?.ip
        return RTSPConnection(try configuration.channel(over: socket, to: url, session.credentials))
    }
}
