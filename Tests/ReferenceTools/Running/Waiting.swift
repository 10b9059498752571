public import Testing

/// Waits for other processes or threads.
public enum Waiting {
    /// The awaited condition did not become true. The error includes the last progress.
    public struct NeverCame: Error, CustomStringConvertible {
        public var what: String
        public var seen: String
        public var description: String { "\(what) never came; seen so far: \(seen)" }
    }

    /// Returns as soon as a condition is true.
    ///
    /// The limit depends on progress, not on speed: a server that encodes on a busy processor may run at a tenth of its
    /// rate, which is no hang.
    ///
    /// - Parameters:
    ///   - progress: a value that changes while the work progresses. The limit also requires a number of checks: tests
    ///     that don't suspend occupy the few shared threads, so the awaited work may not have started either.
    ///
    /// - Throws: ``NeverCame`` if nothing has changed for a minute and a thousand checks, or after ten minutes.
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

    /// Returns as soon as a condition is true, which is checked every millisecond on a separate thread.
    ///
    /// Records an issue and returns if the condition isn't true within two minutes: a limit for hangs, not for speed.
    /// Returns early if the task is cancelled, for example by a test's time limit.
    public static func until(
        sourceLocation: SourceLocation = #_sourceLocation, _ condition: @escaping @Sendable () -> Bool
    ) async {
        let holds = await ConditionPoller.shared.waits(for: condition, atMost: .seconds(120))
        guard !holds, !Task.isCancelled else { return }
        Issue.record("The awaited condition did not hold within two minutes.", sourceLocation: sourceLocation)
    }

    /// Returns a count as soon as it is the same in two checks in a row: everything has arrived.
    ///
    /// - Throws: ``NeverCame`` if the count grows for two hundred checks; any error of the count.
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
