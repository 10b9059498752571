import InletCore
import InletRTP
import InletRTSP

/// Ending a session, and recording its end.
extension RTSPClient {
    /// Ends the session. Takes at most 150 ms; the rest is left to ``ConnectionReaper``.
    func close() {
        keyFrames?.close()
        stopKeeping()
        memory?.keepAlive = session.keepAlive
        memory?.authentication = session.authenticationMemory
        memory?.beginsWithOptions = session.optionsMemory
        guard replay == nil else {
            (connection, sockets) = (nil, nil)
            return
        }
        recorder?.stop(at: now)
        defer { recorder?.close(.left, at: now) }
        guard let connection, !session.isClosed else { return }
        try? perform(session.handle(.close, at: now), until: now)
        let end = now + .milliseconds(150)
        while !session.isClosed, now < end {
            wait.waitRegardless(for: connection, until: end)
            do throws(InletError) {
                try connection.flush()
                _ = try connection.read(at: now)
                while let event = try connection.next({ _, _, _ in }) {
                    if case .response(let response) = event {
                        try perform(session.handle(.response(response), at: now), until: now)
                    }
                }
                if connection.hasEnded { break }
            } catch {
                break
            }
        }
        sockets = nil
        self.connection = nil
        connection.recorder = nil
        if !session.isClosed, !connection.hasEnded {
            ConnectionReaper.take(connection, session, clock: context.clock)
        }
    }

    /// Records that the stream ended without an RTSP message, which affects the keep-alives of the next session.
    func noteLoss() {
        _ = session.handle(.streamLost(since: stream?.lastArrival ?? waitingSince), at: now)
    }
}
