import InletCapture
import InletCore
import Logging

/// Finds the sinks of a camera that accept no data, such as those whose disk hangs. Pure.
///
/// A sink is stalled if it has accepted nothing for ``limit`` while frames or packets were dropped because its queue
/// was full.
struct SinkWatch: Sendable {
    /// The time after which a sink counts as stalled.
    static let limit = Duration.seconds(8)
    /// The same time for a sink that has accepted nothing yet: it may wait for its first key frame.
    static let firstLimit = Duration.seconds(30)
    /// The time without drops after which a sink is considered idle.
    private static let quiet = Duration.seconds(30)
    private static let reasons: [DropReason] = [.queueFull, .superseded]

    private struct Progress {
        /// The number of frames that the sink took from its queue, including those it did not use.
        var accepted: UInt64
        /// The number of dropped frames when the sink last accepted one, and the number now.
        var droppedBefore: UInt64
        var dropped: UInt64
        /// The times of the first and the last drop since the sink last accepted a frame.
        var drops: (first: MonotonicTime, last: MonotonicTime)?
        var isStalled = false
    }

    private var sinks: [SinkID: Progress] = [:]
    /// The file name of the stalled recording on request.
    private var recording: String?

    /// A change of a sink's state.
    struct Change: Equatable {
        var sink: String
        /// The number of dropped frames or packets; nil if the sink is no longer stalled.
        var dropped: UInt64?
    }

    /// Removes the sinks of a capture that has ended.
    mutating func reset() { sinks = [:] }

    /// Compares the statistics with the previous ones.
    ///
    /// - Returns: the sinks that have stalled or are no longer stalled.
    mutating func update(_ statistics: [CaptureStatistics.Sink], at now: MonotonicTime) -> [Change] {
        var changes: [Change] = []
        var next: [SinkID: Progress] = [:]
        for sink in statistics where sink.isAttached {
            let dropped = Self.reasons.reduce(UInt64(0)) { $0 &+ (sink.drops[$1] ?? 0) }
            let accepted = sink.delivered &+ (sink.drops[.notConnected] ?? 0)
            let former = sinks[sink.id]
            guard var progress = former, accepted == progress.accepted else {
                if former?.isStalled == true { changes.append(Change(sink: sink.name)) }
                next[sink.id] = Progress(accepted: accepted, droppedBefore: dropped, dropped: dropped)
                continue
            }
            if dropped != progress.dropped {
                progress.dropped = dropped
                progress.drops = (progress.drops?.first ?? now, now)
            } else if let drops = progress.drops, !progress.isStalled, now - drops.last > Self.quiet {
                progress.drops = nil
            }
            let limit = accepted == 0 ? Self.firstLimit : Self.limit
            if let drops = progress.drops, !progress.isStalled, drops.last - drops.first >= limit {
                progress.isStalled = true
                changes.append(Change(sink: sink.name, dropped: dropped &- progress.droppedBefore))
            }
            next[sink.id] = progress
        }
        sinks = next
        return changes
    }

    /// Updates whether the recording on request is stalled.
    ///
    /// - Parameter name: the file of a recording whose write takes longer than ``limit``; nil if no write does.
    /// - Returns: the change; nil if the state is the same.
    mutating func update(recording name: String?) -> Change? {
        defer { recording = name }
        switch (recording, name) {
        case (nil, let name?): return Change(sink: name, dropped: 0)
        case (let name?, nil): return Change(sink: name)
        default: return nil
        }
    }

    /// Returns the names of the stalled sinks in the statistics.
    func stalled(of statistics: [CaptureStatistics.Sink]) -> [String] {
        statistics.filter { sinks[$0.id]?.isStalled == true }.map(\.name) + (recording.map { [$0] } ?? [])
    }
}

extension SupervisedCamera {
    /// Reports sinks that have stalled or have recovered.
    func watchSinks() {
        let statistics = capturer?.statistics.sinks ?? []
        var changes = sinkWatch.update(statistics, at: environment.clock.now)
        if let change = sinkWatch.update(recording: recorder.stalled) { changes.append(change) }
        for change in changes {
            if let dropped = change.dropped {
                let lost = dropped > 0 ? " It has missed \(dropped) frames or packets." : ""
                let text =
                    "\(change.sink): nothing was accepted for \(SinkWatch.limit.components.seconds) seconds.\(lost) "
                    + "Check its disk or server."
                environment.logger.error("\(text)", metadata: ["camera": "\(settings.name)"])
                report(CameraSetEvent("sink-stalled", text, camera: settings.name))
            } else {
                environment.logger.notice("\(change.sink) accepts data again", metadata: ["camera": "\(settings.name)"])
                report(CameraSetEvent("sink-recovered", "\(change.sink) accepts data again.", camera: settings.name))
            }
        }
    }
}
