package import InletCore

/// Decides the state of a track from the application's settings, the source's condition, and the time. Holds no clock
/// and no timer.
///
/// A silent source mutes the track at once, so that the picture can return without a new session; one that stays silent
/// counts as turned off, and the track is unpublished. A pause counts as a camera turned off by its owner.
package struct VideoTrackStateMachine: Sendable {
    /// Whether the application wants pictures shown. The default is true.
    package var isEnabled = true
    /// Whether the application lets peers connect. The default is true.
    package var isOffered = true
    /// The time that a track stays muted before it is unpublished; nil for no limit.
    package var patience: Duration?
    private(set) package var isRunning = false
    private var condition = SourceCondition.live
    private var mutedSince: MonotonicTime?

    package init(patience: Duration?) { self.patience = patience }

    /// Records that pictures are captured from now on.
    package mutating func begin() {
        isRunning = true
        (condition, mutedSince) = (.live, nil)
    }

    /// Records that no more pictures are captured.
    package mutating func end() { isRunning = false }

    /// Records that the condition of the source has changed.
    package mutating func sourceChanged(to condition: SourceCondition, at now: MonotonicTime) {
        self.condition = condition
        mutedSince = condition == .interrupted ? mutedSince ?? now : nil
    }

    /// The time when the state changes by itself; nil if it does not.
    package var deadline: MonotonicTime? {
        guard isRunning, isOffered, let mutedSince, let patience else { return nil }
        return mutedSince + patience
    }

    /// Returns whether pictures of the source go to peers, if there are any.
    package func isSending(at now: MonotonicTime) -> Bool { isEnabled && !isWithdrawn(at: now) }

    /// Returns whether peers get nothing at all.
    package func isWithdrawn(at now: MonotonicTime) -> Bool { isRunning ? !state(at: now).isPublished : !isOffered }

    /// Returns the state of the track.
    package func state(at now: MonotonicTime) -> VideoTrackState {
        let isGone = condition == .paused || deadline.map { $0 <= now } ?? false
        return VideoTrackState(
            isPublished: isRunning && isOffered && !isGone, isEnabled: isEnabled && condition != .disabled,
            isMuted: condition != .live)
    }
}
