import InletCore

@testable import InletCapture

extension FaultSimulation {
    func checkPromises() throws {
        for (index, sink) in sinks.enumerated() {
            if sink.mailbox.count > sink.capacity {
                throw broken("sink \(index) holds \(sink.mailbox.count) frames of \(sink.capacity)")
            }
            try checkSums(index)
        }
        let running = lost.values.count { $0 }
        if running != machine.figures.abandonedThreads {
            throw broken("\(running) threads are lost, \(machine.figures.abandonedThreads) known")
        }
        if running > machine.policy.maximumAbandonedThreads { throw broken("\(running) lost threads") }
        if let stoppedAt, result == nil, now > stoppedAt + machine.policy.stopTimeout + .seconds(1) {
            throw broken("still running \(now - stoppedAt) after the stop")
        }
        guard result == nil else { return }
        switch (machine.phase, machine.session?.stage) {
        case (.idle, _), (.closedForPause, _), (.open, .paused): break
        default:
            guard let next = machine.nextTick(at: now, operation: session?.limits.operation), next <= now + .seconds(3)
            else {
                throw broken("waits without a deadline in \(machine.phase)")
            }
        }
    }

    func checkSums(_ index: Int) throws {
        let sink = sinks[index]
        let inHand = pending?.sinks.contains(index) == true ? 1 : 0
        // The current frame is released uncounted when its session ends.
        let known = sink.delivered + sink.dropped + sink.mailbox.count + inHand
        guard known <= sink.offered, sink.isLossless || known == sink.offered else {
            throw broken("sink \(index) was offered \(sink.offered) frames, and \(known) are accounted for")
        }
    }
}
