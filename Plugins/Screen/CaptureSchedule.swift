import InletCore

/// Decides when to capture: soon after a change, no more often than the rate allows, and at intervals without a
/// change.
struct CaptureSchedule {
    /// The minimum time from one picture to the next.
    var interval: Duration
    /// The maximum time from one picture to the next.
    let refresh: Duration
    /// Whether the server reports changes; if not, the screen may have changed at any time.
    let seesChanges: Bool
    private var hasChanged = true
    private var last: MonotonicTime?

    init(interval: Duration, refresh: Duration, seesChanges: Bool) {
        self.interval = interval
        self.refresh = refresh
        self.seesChanges = seesChanges
    }

    /// Records that the screen has changed since the last capture.
    mutating func noteChange() { hasChanged = true }

    /// The time of the next picture, as known so far; a change may bring it forward.
    var due: MonotonicTime {
        guard let last else { return MonotonicTime(nanoseconds: .min) }
        return last + (hasChanged || !seesChanges ? interval : max(interval, refresh))
    }

    /// Records that a picture is captured now: later changes belong to the next picture.
    mutating func capture(at now: MonotonicTime) {
        // The beat is kept if possible, so that the rate is the requested one and not slightly lower.
        let beat = last.map { $0 + interval } ?? now
        last = beat <= now && now - beat < interval / 2 ? beat : now
        hasChanged = false
    }
}
