#if os(Linux)
    import InletCore

    /// When to capture: soon after a change, no more often than the rate allows, and at times when there is none.
    struct CaptureSchedule {
        /// The least time from one picture to the next.
        var interval: Duration
        /// The most time from one picture to the next.
        let refresh: Duration
        /// Whether the server tells of changes; if not, anything may have changed at any time.
        let seesChanges: Bool
        private var hasChanged = true
        private var last: MonotonicTime?

        init(interval: Duration, refresh: Duration, seesChanges: Bool) {
            self.interval = interval
            self.refresh = refresh
            self.seesChanges = seesChanges
        }

        /// Notes that the screen no longer is as it was captured.
        mutating func noteChange() { hasChanged = true }

        /// When the next picture is due, as far as is known; a change may bring it forward.
        var due: MonotonicTime {
            guard let last else { return MonotonicTime(nanoseconds: .min) }
            return last + (hasChanged || !seesChanges ? interval : max(interval, refresh))
        }

        /// Notes that a picture is captured now: what changes from here on is in the next.
        mutating func capture(at now: MonotonicTime) {
            // On the beat, if it is kept, so that the rate is what is asked for and not a little less.
            let beat = last.map { $0 + interval } ?? now
            last = beat <= now && now - beat < interval / 2 ? beat : now
            hasChanged = false
        }
    }
#endif
