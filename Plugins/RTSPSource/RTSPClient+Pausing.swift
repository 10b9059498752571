import InletCore
import InletRTSP

/// How a stream is paused and resumed.
extension RTSPClient {
    /// Asks the server to pause.
    ///
    /// - Returns: whether it did.
    func pause() throws(InletError) -> Bool {
        isPauseRefused = false
        let end = now + configuration.readTimeout
        try perform(session.handle(.pause, at: now), until: end)
        while !isPaused, !isPauseRefused, now < end { try advancePastUnits(until: end) }
        return isPaused
    }

    /// Asks the server to go on.
    func resume() throws(InletError) {
        let end = now + configuration.readTimeout
        playingSince = nil
        try perform(session.handle(.resume, at: now), until: end)
        while playingSince == nil, now < end { try advancePastUnits(until: end) }
        isPaused = false
        stream?.breakOff()
    }

    /// Advances while nobody takes pictures: those of around a pause are dropped.
    private func advancePastUnits(until end: MonotonicTime) throws(InletError) {
        try context.checkCancellation()
        stream?.dropUnits()
        try advance(until: end)
    }
}
