import Dispatch
import InletCore
import Synchronization

/// Whether the sink has use for pictures, and how far they are reduced for it.
extension SinkDelivery {
    /// The time for which a sink has no use for pictures before none is decoded for it: a viewer that asks for one
    /// picture a second has the next one at once.
    private static let idleAfter = Duration.seconds(2)
    /// The interval at which an idle sink is asked.
    private static let askingInterval = Duration.milliseconds(100)
    /// The same interval for a sink that reports its sessions: each report causes an immediate check.
    private static let reportingInterval = Duration.seconds(1)

    var isIdle: Bool { state.withLock { $0.isIdle } }

    func passPicture(at time: MonotonicTime) {
        let asks = state.withLock { state in
            guard state.isIdle else { return false }
            let interval = counters.hasSessions ? Self.reportingInterval : Self.askingInterval
            if let last = state.lastAsked, time - last < interval { return false }
            state.lastAsked = time
            return true
        }
        if asks { nudge() }
    }

    /// Records whether the sink has use for pictures. Runs on the thread.
    func noteUse(_ takesFrames: Bool) {
        var isIdle = false
        if takesFrames {
            worker.unusedSince = nil
        } else if !isLossless, worker.hasStarted {
            let now = context.clock.now
            let since = worker.unusedSince ?? now
            worker.unusedSince = since
            isIdle = now - since >= Self.idleAfter
        }
        let hasChanged = state.withLock { state in
            defer { (state.takesFrames, state.isIdle) = (takesFrames, isIdle) }
            return state.isIdle != isIdle
        }
        if hasChanged { context.wantsChanged() }
    }

    /// Asks a sink that is idle whether it has use for pictures now. Runs on the thread.
    func askIdleSink() {
        guard isIdle, let sink = worker.sink, sink.takesFrames else { return }
        if worker.decidesWants { follow(sink.wants) }
        noteUse(true)
    }

    // MARK: Reduction

    func reduce(to reduction: PictureReduction) {
        let before = wants
        state.withLock { $0.reduction = reduction }
        followRate(from: before)
    }

    /// Thins frames out by the rate that is wanted now.
    func followRate(from before: SinkWants) {
        let now = wants
        guard now.maximumFrameRate != before.maximumFrameRate else { return }
        mailbox.setLimiter(RateLimiter(now, source: state.withLock { $0.format }))
    }
}
