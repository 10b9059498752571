public import Testing

/// Waits for what another process or thread does.
public enum Waiting {
    /// What did not come, and how far it had got.
    public struct NeverCame: Error, CustomStringConvertible {
        public var what: String
        public var seen: String
        public var description: String { "\(what) never came; seen so far: \(seen)" }
    }

    /// Returns as soon as something is so.
    ///
    /// What counts is whether anything goes on, not how fast: a server that encodes while others use the processor may
    /// be at a tenth of its rate, which is no hang.
    ///
    /// - Parameters:
    ///   - progress: what changes for as long as things go on. The limit is counted in looks as well: tests that do not
    ///     suspend hold the few threads that tasks share, and what is waited for may not have begun then, either.
    ///
    /// - Throws: ``NeverCame`` when nothing has changed for a minute and a thousand looks, or after ten minutes.
    public static func until<Progress: Equatable>(
        _ what: String, progress: () throws -> Progress, isolation: isolated (any Actor)? = #isolation,
        _ isSo: () throws -> Bool
    ) async throws {
        let begin = ContinuousClock.now
        var (seen, changed, looks) = (try progress(), begin, 0)
        while try !isSo() {
            let (now, present) = (ContinuousClock.now, try progress())
            if present != seen { (seen, changed, looks) = (present, now, 0) }
            looks += 1
            guard now - changed < .seconds(60) || looks < 1000, now - begin < .seconds(600) else {
                throw NeverCame(what: what, seen: "\(seen)")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Returns as soon as a condition holds, which is checked each millisecond on a separate thread.
    ///
    /// Records an issue and returns if it does not hold within two minutes: a limit for hangs, not for speed. Returns
    /// early if the task is cancelled, such as by a test's time limit.
    public static func until(
        sourceLocation: SourceLocation = #_sourceLocation, _ condition: @escaping @Sendable () -> Bool
    ) async {
        let holds = await ConditionPoller.shared.waits(for: condition, atMost: .seconds(120))
        guard !holds, !Task.isCancelled else { return }
        Issue.record("The awaited condition did not hold within two minutes.", sourceLocation: sourceLocation)
    }

    /// Returns a count when it is the same in two looks in a row: what was on its way has arrived.
    ///
    /// - Throws: ``NeverCame`` if it grows for two hundred looks; what the count throws.
    public static func untilStill<Count: Equatable>(
        _ what: String, isolation: isolated (any Actor)? = #isolation, _ count: () async throws -> Count
    ) async throws -> Count {
        var seen = try await count()
        for _ in 0..<200 {
            try await Task.sleep(for: .milliseconds(300))
            let present = try await count()
            if present == seen { return present }
            seen = present
        }
        throw NeverCame(what: "the end of \(what)", seen: "\(seen)")
    }
}
