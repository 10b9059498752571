import InletCore
import InletRTP
import InletRTSP

/// Pausing and resuming a stream.
extension RTSPClient {
    /// Asks the server to pause. The session is kept alive until ``resume()`` or ``close()``.
    ///
    /// - Returns: whether the server paused.
    func pause() throws(InletError) -> Bool {
        isPauseRefused = false
        let end = now + configuration.readTimeout
        try perform(session.handle(.pause, at: now), until: end)
        while !isPaused, !isPauseRefused, now < end { try advancePastUnits(until: end) }
        guard isPaused else { return false }
        if replay == nil { _ = try PauseKeeper(self) }
        return true
    }

    /// Asks the server to continue, or opens another session if the session ended during the pause.
    func resume() throws(InletError) {
        stopKeeping()
        let end = now + (session.isSuspended ? configuration.connectTimeout : configuration.readTimeout)
        playingSince = nil
        // Later data does not continue the earlier data, and may arrive before the response to PLAY.
        stream?.breakOff()
        try perform(session.handle(.resume, at: now), until: end)
        while playingSince == nil, now < end {
            guard stream?.hasUnit != true else { break }
            try context.checkCancellation()
            try advance(until: end)
        }
        isPaused = false
    }

    /// Keeps the paused session alive until the next event. Called repeatedly on the thread of ``PauseKeeper``.
    ///
    /// - Returns: false if the session has ended or the source was cancelled.
    func keepAliveInPause() -> Bool {
        do throws(InletError) {
            try advancePastUnits(until: .distantFuture)
        } catch {
            guard error.code != .cancelled else { return false }
            _ = session.handle(.disconnected, at: now)
        }
        guard session.isSuspended else { return !session.isClosed }
        recorder?.close(.left, at: now)
        (connection, sockets, failure) = (nil, nil, nil)
        return false
    }

    /// Ends the thread that keeps the paused session alive.
    func stopKeeping() {
        keeper?.stop()
        keeper = nil
    }

    /// Advances the session, and drops pictures that arrive around a pause.
    private func advancePastUnits(until end: MonotonicTime) throws(InletError) {
        try context.checkCancellation()
        stream?.dropUnits()
        try advance(until: end)
    }
}
