import Dispatch
import InletCore
import Synchronization

extension ManualClock {
    /// A timer's handler and the time that it is set for.
    struct Setting {
        let queue: DispatchQueue
        let handler: @Sendable () -> Void
        var time: MonotonicTime?
        /// Distinguishes one setting from the others, and orders those for the same time.
        var number = 0
    }

    /// Suspends until every due handler has returned, and everything on the queues of timers when this was called, or
    /// when the handlers returned, is done.
    ///
    /// The time does not move. A queue that is suspended or was never activated blocks this.
    public func settle() async {
        repeat {
            await suspend { $0.handlerCount == 0 }
            for queue in timerQueues {
                await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
            }
        } while !isIdle
    }

    /// Does the same as ``settle()``, for a thread that may be blocked.
    func settleBlocking() {
        var wasIdle: Bool
        repeat {
            wasIdle = isIdle
            for queue in timerQueues {
                let isDone = DispatchSemaphore(value: 0)
                queue.async { isDone.signal() }
                isDone.wait()
            }
        } while !wasIdle || !isIdle
    }

    /// The number of timers that are set.
    public var timerCount: Int { state.withLock { $0.timers.values.count { $0.time != nil } } }

    /// Suspends until a timer is set whose queue has this label.
    ///
    /// - Returns: the time until it fires, the shortest if there are several.
    @discardableResult
    public func timer(onQueue label: String) async -> Duration {
        while true {
            let left = state.withLock { state in state.nextTime(onQueue: label).map { $0 - state.now } }
            if let left { return left }
            await suspend { $0.nextTime(onQueue: label) != nil }
        }
    }

    private var isIdle: Bool { state.withLock { $0.handlerCount } == 0 }

    private var timerQueues: [DispatchQueue] {
        state.withLock { state in
            var known: Set<ObjectIdentifier> = []
            return state.timers.values.map(\.queue).filter { known.insert(ObjectIdentifier($0)).inserted }
        }
    }

    /// Puts the handlers of the timers that are due on their queues, in the order of their times.
    func callHandlers(_ state: inout State) {
        let due = state.timers.filter { $0.value.time.map { $0 <= state.now } ?? false }
        let inOrder = due.map { (timer: $0.key, setting: $0.value) }.sorted {
            ($0.setting.time ?? state.now, $0.setting.number) < ($1.setting.time ?? state.now, $1.setting.number)
        }
        for (timer, setting) in inOrder {
            state.timers[timer]?.time = nil
            state.handlerCount += 1
            setting.queue.async { self.callHandler(of: timer, settingNumber: setting.number) }
        }
    }

    private func callHandler(of timer: Int, settingNumber: Int) {
        // The timer may have been cancelled or set again meanwhile.
        let handler = state.withLock { state in
            state.timers[timer].flatMap { $0.number == settingNumber ? $0.handler : nil }
        }
        handler?()
        change { $0.handlerCount -= 1 }
    }
}

extension ManualClock.State {
    fileprivate func nextTime(onQueue label: String) -> MonotonicTime? {
        timers.values.filter { $0.queue.label == label }.compactMap(\.time).min()
    }
}
