import Logging

/// The decisions of a ``RepeatedLog``, without lock, clock or logger: which messages become lines now, and when to
/// check again.
struct RepeatedLogStateMachine {
    /// A line to log.
    struct Line: Equatable {
        var level: Logger.Level
        var message: String
        var metadata: Logger.Metadata?
        /// The number of messages that the line represents.
        var count: UInt64 = 1
        /// Whether they belong to several keys.
        var isMixed = false

        /// The newest message, and how many there were.
        var text: String {
            if count == 1 { return message }
            return isMixed ? "\(message), and others (\(count) messages)" : "\(message) (\(count) times)"
        }
    }

    /// The state of one key.
    private struct Entry {
        var line: Line
        var loggedAt: MonotonicTime
        /// Messages since the last line.
        var held: UInt64 = 0

        /// Returns the newest message with the number of all that were held.
        mutating func takeHeld(at now: MonotonicTime) -> Line {
            var line = line
            line.count = held
            loggedAt = now
            held = 0
            return line
        }
    }

    private let interval: Duration
    private let capacity: Int
    private var entries: [String: Entry] = [:]
    /// Messages whose key found no room.
    private var crowd: Entry?
    /// Whether a call of ``linesDue(at:)`` is scheduled.
    private var isWakeUpDue = false

    init(interval: Duration, capacity: Int) {
        self.interval = interval
        self.capacity = max(1, capacity)
    }

    enum Verdict: Equatable {
        case log(Line)
        /// The message was counted. If a delay is given, the caller has ``linesDue(at:)`` called after it.
        case held(wakeUpAfter: Duration?)
    }

    mutating func note(_ line: Line, key: String, at now: MonotonicTime) -> Verdict {
        let due: Line?
        if entries[key] != nil || makeRoom(at: now) {
            due = note(line, in: &entries[key], at: now)
        } else {
            var line = line
            line.isMixed = true
            due = note(line, in: &crowd, at: now)
        }
        return due.map(Verdict.log) ?? .held(wakeUpAfter: nextWakeUp(at: now))
    }

    private func note(_ line: Line, in entry: inout Entry?, at now: MonotonicTime) -> Line? {
        guard var known = entry else {
            entry = Entry(line: line, loggedAt: now)
            return line
        }
        known.line = line
        known.held &+= 1
        let due = now - known.loggedAt >= interval ? known.takeHeld(at: now) : nil
        entry = known
        return due
    }

    /// - Returns: whether there is room for another key, after keys that have been quiet were removed.
    private mutating func makeRoom(at now: MonotonicTime) -> Bool {
        if entries.count < capacity { return true }
        entries = entries.filter { $0.value.held > 0 || now - $0.value.loggedAt < interval }
        return entries.count < capacity
    }

    /// Returns the lines that have waited for an interval, and when to check again for those that have not.
    mutating func linesDue(at now: MonotonicTime) -> (lines: [Line], wakeUpAfter: Duration?) {
        isWakeUpDue = false
        let interval = interval
        let lines = take(at: now) { now - $0.loggedAt >= interval }
        return (lines, nextWakeUp(at: now))
    }

    /// Returns all lines that are held back.
    mutating func takeAll(at now: MonotonicTime) -> [Line] { take(at: now) { _ in true } }

    private mutating func take(at now: MonotonicTime, where isDue: (Entry) -> Bool) -> [Line] {
        var lines: [Line] = []
        for key in entries.keys.sorted() {
            guard var entry = entries[key], entry.held > 0, isDue(entry) else { continue }
            lines.append(entry.takeHeld(at: now))
            entries[key] = entry
        }
        if var entry = crowd, entry.held > 0, isDue(entry) {
            lines.append(entry.takeHeld(at: now))
            crowd = entry
        }
        return lines
    }

    /// The time until the first held message is due; nil if nothing is held, or if a check is scheduled
    /// already.
    private mutating func nextWakeUp(at now: MonotonicTime) -> Duration? {
        guard !isWakeUpDue else { return nil }
        let first = (entries.values.lazy.filter { $0.held > 0 }.map(\.loggedAt)).min()
        let crowded = crowd.flatMap { $0.held > 0 ? $0.loggedAt : nil }
        guard let earliest = [first, crowded].compactMap(\.self).min() else { return nil }
        isWakeUpDue = true
        return max(.zero, earliest + interval - now)
    }
}
