import InletCore
import InletRTP
import InletRTSP

/// Performs the actions that the session requests.
extension RTSPClient {
    func perform(_ actions: [RTSPSession.Action], until end: MonotonicTime) throws(InletError) {
        // A farewell that cannot be sent changes neither the next address nor the reason.
        let isFarewell = actions.contains { action in
            switch action {
            case .reconnect, .fail: true
            default: false
            }
        }
        for action in actions {
            switch action {
            case .send(let bytes):
                do throws(InletError) {
                    try connection?.send(bytes, at: now)
                } catch {
                    if isFarewell { continue }
                    guard error.code == .disconnected, session.outlivesConnection else { throw error }
                    return try perform(session.handle(.disconnected, at: now), until: end)
                }
            case .openPorts: try openPorts(until: end)
            case .closePorts: sockets = nil
            case .established(let established): try begin(established)
            case .playing(let playing):
                playingSince = now
                waitingSince = now
                isPaused = false
                if case .clock(let start, _) = playing.range, let timestamp = playing.info?.timestamp {
                    stream?.noteStart(start, at: timestamp)
                }
            case .paused: isPaused = true
            case .pauseRefused: isPauseRefused = true
            case .reconnect(let url): try reconnect(to: url, until: end)
            case .fail(let error):
                let isOpening = playingSince == nil && error.code == .timedOut
                failure =
                    failure
                    ?? (isOpening ? InletError(.timedOut, "\(error.message) \(HostConnection.advice)") : error)
            case .close: break
            }
        }
    }
}
