import InletCore

/// Decides when new files of a plug-in are examined, without a clock or a file.
struct UpdateWatch {
    private let running: [FileIdentity]
    private let settling: Duration
    /// The new files, and the time since which they have not changed.
    private var seen: (files: [FileIdentity], since: MonotonicTime)?
    private var refused: [FileIdentity]?
    /// How often these files could not be examined for a temporary reason.
    private var failures = 0

    private static let mostFailures = 3

    /// - Parameters:
    ///   - running: the files whose code runs.
    ///   - settling: how long other files must stay unchanged.
    init(running: [FileIdentity], settling: Duration) {
        self.running = running
        self.settling = settling
    }

    /// Takes the current files, nil if one is missing, and returns whether to examine them now.
    mutating func examines(_ files: [FileIdentity]?, at now: MonotonicTime) -> Bool {
        guard let files, files != running, files != refused else {
            seen = nil
            return false
        }
        guard let seen, seen.files == files else {
            self.seen = (files, now)
            failures = 0
            return false
        }
        return now - seen.since >= settling
    }

    /// Records that the examined files cannot be used.
    ///
    /// - Returns: whether that is final, until they change.
    mutating func refuse(_ files: [FileIdentity], for error: InletError, at now: MonotonicTime) -> Bool {
        failures += 1
        // A busy machine, or an update in progress.
        let mayPass = [InletError.Code.busy, .timedOut, .resourceExhausted].contains(error.code)
        if mayPass, failures < Self.mostFailures {
            seen?.since = now
            return false
        }
        refused = files
        return true
    }
}
