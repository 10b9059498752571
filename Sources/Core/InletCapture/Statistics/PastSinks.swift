import InletCore

/// The ended sinks of a run: the last 64 individually, earlier ones as one sum per name. So attaching and detaching for
/// days does not grow memory, and no name's sum falls. If there are too many names, the oldest are forgotten.
struct PastSinks {
    /// A sink that has ended. Its counters may still change: frames queued in a sequence are taken after the run.
    private struct PastSink {
        var id: SinkID
        var name: String
        var counters: SinkCounters

        var figures: CaptureStatistics.Sink { counters.snapshot(id: id, name: name) }
    }

    /// The number of ended sinks that are kept individually, and the number of names with a sum.
    static let limit = 64

    private var recent: [PastSink] = []
    /// The sums of the sinks before, in the order in which each name last got one.
    private(set) var sums: [CaptureStatistics.Sink] = []

    /// The figures of the last sinks, in the order in which they ended.
    var figures: [CaptureStatistics.Sink] { recent.map(\.figures) }

    /// Adds a sink that no longer takes frames.
    mutating func add(_ id: SinkID, _ name: String, _ counters: SinkCounters) {
        recent.append(PastSink(id: id, name: name, counters: counters))
        guard recent.count > Self.limit else { return }
        var sum = recent.removeFirst().figures
        sum.sessions?.open = 0
        sum.sessions?.pending = 0
        if let place = sums.firstIndex(where: { $0.name == sum.name }) { sum.add(sums.remove(at: place)) }
        sums.append(sum)
        if sums.count > Self.limit { sums.removeFirst() }
    }
}
