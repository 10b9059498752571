import ArgumentParser
import Inlet

/// The options of `inlet run` that determine what happens when the source fails.
struct TroubleOptions: ParsableArguments {
    @Option(
        help:
            "How often to reopen a failed source: never, forever or N times in a row. With this option, a source that has never worked is reopened, too. The default is forever, once it has worked.",
        completion: .list(["never", "forever"]), transform: { try Self.retry($0) })
    var retry: RetryPolicy?

    @Option(
        help: """
            The longest time to open the source, to its first frame, and between frames, such as 5 or 500ms. After \
            that it is reopened. The default is \(CaptureTimeouts().open.optionText).
            """, transform: { try RunCommand.time($0, "--timeout") })
    var timeout: Duration?

    @Option(
        help: "The time without a frame, over all attempts, after which the run fails. The default is never.",
        transform: { try RunCommand.time($0, "--give-up") })
    var giveUp: Duration?

    @Option(
        help:
            "The placeholder while there are no frames: none (the default), hold (the last frame), black or text.",
        completion: .list(OutagePolicy.Picture.allCases.map(\.rawValue)), transform: { try Self.outage($0) })
    var outage: OutagePolicy.Picture?

    @Option(
        help: """
            How often to restart a sink that failed, as when a disk is full or a server is gone: never, forever or N \
            times in a row. The default is never.
            """, completion: .list(["never", "forever"]), transform: { try Self.sinkRetry($0) })
    var sinkRetry: SinkFailurePolicy?

    @Option(
        help: ArgumentHelp(
            """
            Close a live source when it has had no viewer for this long, such as 10, and open it for the next viewer. \
            The default is to keep it open.
            """, valueName: "seconds"),
        transform: { try RunCommand.time($0, "--on-demand") })
    var onDemand: Duration?

    func apply(to configuration: inout CapturerConfiguration) {
        if let retry { configuration.retry = retry }
        if let timeout {
            configuration.timeouts.open = timeout
            configuration.timeouts.firstFrame = timeout
            configuration.timeouts.nextFrame = timeout
            configuration.timeouts.stall = min(configuration.timeouts.stall, timeout)
        }
        configuration.timeouts.giveUp = giveUp
        configuration.closesUnwatchedAfter = onDemand
        if let outage { configuration.outage.picture = outage }
    }

    private static func outage(_ text: String) throws -> OutagePolicy.Picture {
        guard let picture = OutagePolicy.Picture(rawValue: text) else {
            let names = OutagePolicy.Picture.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--outage takes one of \(names), not '\(text)'.")
        }
        return picture
    }

    private static func sinkRetry(_ text: String) throws -> SinkFailurePolicy {
        var delay = RestartDelay()
        switch text {
        case "never": return .detach
        case "forever": return .restart(after: delay)
        default:
            guard let count = Int(text), count > 0 else {
                throw ValidationError("--sink-retry takes never, forever or a number from 1 on, not '\(text)'.")
            }
            delay.attempts = count
            return .restart(after: delay)
        }
    }

    private static func retry(_ text: String) throws -> RetryPolicy {
        var policy: RetryPolicy
        switch text {
        case "never": return .never
        case "forever": policy = RetryPolicy()
        default:
            guard let count = Int(text), count >= 0 else {
                throw ValidationError("--retry takes never, forever or a number, not '\(text)'.")
            }
            policy = .attempts(count)
        }
        policy.retriesFirstOpening = true
        return policy
    }
}
