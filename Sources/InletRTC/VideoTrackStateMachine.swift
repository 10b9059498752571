package import InletCore

/// Decides what peers get of a track: from what the application wants, what the source does, and the time. Holds no
/// clock and no timer.
///
/// A source that is silent mutes the track at once, so that a picture is back without another session; one that stays
/// silent is as good as turned off, and the track is unpublished. A pause is a camera turned off by its owner.
package struct VideoTrackStateMachine: Sendable {
    /// Whether the application wants pictures shown. The default is true.
    package var isEnabled = true
    /// Whether the application wants peers to come. The default is true.
    package var isOffered = true
    /// How long a track is muted before it is unpublished; nil for any time.
    package var patience: Duration?
    private var isRunning = false
    private var condition = SourceCondition.live
    private var mutedSince: MonotonicTime?

    package init(patience: Duration?) { self.patience = patience }

    /// Pictures are taken from now on.
    package mutating func begin() {
        isRunning = true
        (condition, mutedSince) = (.live, nil)
    }

    /// No pictures are taken any more.
    package mutating func end() { isRunning = false }

    /// The source is in another condition.
    package mutating func sourceChanged(to condition: SourceCondition, at now: MonotonicTime) {
        self.condition = condition
        mutedSince = condition == .interrupted ? mutedSince ?? now : nil
    }

    /// When the state changes by time alone; nil where it does not.
    package var deadline: MonotonicTime? {
        guard isRunning, isOffered, let mutedSince, let patience else { return nil }
        return mutedSince + patience
    }

    /// What peers get.
    package func state(at now: MonotonicTime) -> VideoTrackState {
        let isGone = condition == .paused || deadline.map { $0 <= now } ?? false
        return VideoTrackState(
            isPublished: isRunning && isOffered && !isGone, isEnabled: isEnabled && condition != .disabled,
            isMuted: condition != .live)
    }
}
