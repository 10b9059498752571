import Dispatch
package import InletCore
import InletSystem
import Synchronization

/// The thread on which a source is opened, read and closed, so that nothing that it does blocks the host's thread.
///
/// The host's thread sends requests, one at a time, and polls for the answers.
package final class SourceThread: Sendable {
    /// A request to the source.
    package enum Request: Sendable { case open(within: Duration), next, pause, resume, close }

    /// The source's answer.
    package enum Answer: Sendable {
        case opened(SourceFormat), item(SourceItem?), paused(Bool), resumed, closed
        case failed(InletError)
    }

    /// The result of waiting for an answer.
    package enum Outcome { case answer(Answer), late, cancelled }

    private struct State {
        var requests: [Request] = []
        var answer: Answer?
    }

    /// The environment of the source.
    package let context: SourceContext
    private let cancellation: WakeUpSignal
    private let doorbell: Doorbell
    private let work = DispatchSemaphore(value: 0)
    private let state = Mutex(State())

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - makeSource: makes the source, on the new thread. It gets the object that cancels the source.
    ///   - onProgress: called, on any thread, at most ten times a second while data arrives.
    ///   - makeContext: makes the source's environment from its wake-up descriptor and the function that it calls for
    ///     progress.
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses a thread or a descriptor.
    package init(
        _ makeSource: @escaping @Sendable (@escaping @Sendable () -> Void) -> any FrameSource,
        onProgress: @escaping @Sendable () -> Void,
        makeContext: (Int32, @escaping @Sendable () -> Void) -> SourceContext
    ) throws(InletError) {
        cancellation = try WakeUpSignal()
        doorbell = try Doorbell()
        let pulse = ProgressPulse(onProgress)
        context = makeContext(cancellation.descriptor) { pulse.beat() }
        pulse.start(context)
        try SystemThread.start(named: "inlet-source") { [self] in run(makeSource { [weak self] in self?.cancel() }) }
    }

    /// Sends the source a request.
    package func request(_ request: Request) {
        state.withLock { $0.requests.append(request) }
        work.signal()
    }

    /// Waits for the answer to the last request.
    ///
    /// - Parameter wakeDescriptor: ends the wait when it is readable. The source is then cancelled.
    package func answer(until deadline: MonotonicTime, wakeDescriptor: Int32) -> Outcome {
        while true {
            switch doorbell.wait(until: deadline, wakeDescriptor: wakeDescriptor) {
            case .late: return .late
            case .cancelled:
                cancel()
                return .cancelled
            case .rung:
                doorbell.clear()
                if let answer = state.withLock({ $0.answer.take() }) { return .answer(answer) }
            }
        }
    }

    /// Cancels the source's present call.
    package func cancel() {
        context.cancel()
        cancellation.raise()
    }

    /// Closes the source, and waits for that.
    ///
    /// - Returns: whether it was closed within the time. Otherwise it is closed when its call returns.
    package func close(within time: Duration) -> Bool {
        cancel()
        request(.close)
        let end = MonotonicTime.now + time
        while true {
            switch answer(until: end, wakeDescriptor: -1) {
            case .answer(.closed): return true
            case .answer: continue
            case .late, .cancelled: return false
            }
        }
    }

    private func run(_ source: any FrameSource) {
        while true {
            work.wait()
            guard let request = state.withLock({ $0.requests.isEmpty ? nil : $0.requests.removeFirst() }) else {
                continue
            }
            let answer = perform(request, source)
            state.withLock { $0.answer = answer }
            doorbell.ring()
            if case .closed = answer { return }
        }
    }

    private func perform(_ request: Request, _ source: any FrameSource) -> Answer {
        do {
            switch request {
            case .open(let allowance):
                context.setDeadline(after: allowance)
                defer { context.clearDeadline() }
                return .opened(try source.open(context))
            case .next:
                // No deadline: the host asks repeatedly, and decides when that has lasted too long.
                context.setDeadline(after: .seconds(Self.endless))
                defer { context.clearDeadline() }
                let item = try source.next(context)
                context.endInterruption()
                return .item(item)
            case .pause: return .paused(try source.pause(context))
            case .resume:
                try source.resume(context)
                return .resumed
            case .close:
                source.close()
                return .closed
            }
        } catch {
            return .failed(InletError(wrapping: error, operation: "The source"))
        }
    }

    /// A hundred years, in seconds. Within an operation, progress is recorded.
    private static let endless: Int64 = 3_155_760_000
}
