import Dispatch
import InletCore
import Logging
import Synchronization

// Unsafe: has a source that only its worker's thread uses.
/// One source of a configuration, driven on a separate thread.
///
/// `@unchecked Sendable`: after `init`, `source` is only accessed by the worker's one thread. A call that never
/// returned occupies that thread, and all later ones wait behind it.
final class SourceRunner: @unchecked Sendable {
    let context: SourceContext
    private let worker = BlockingWorker()
    private let canceller = DispatchQueue(label: "conformance.cancel")
    private let wakeUp = DescriptorSignal()
    private let limit: Duration
    private var source: (any FrameSource)?
    private let times = Mutex(Times())

    private struct Times {
        var cancellation: SuspendingClock.Instant?
        var call = (start: SuspendingClock.now, end: SuspendingClock.now)
    }

    /// The time that the last call continued after the cancellation, measured on the source's own thread, so that it
    /// excludes the time until the awaiting task is scheduled. It is zero if the call had ended before.
    var timeAfterCancellation: Duration {
        times.withLock { times in
            times.cancellation.map { max(.zero, times.call.end - max($0, times.call.start)) } ?? .zero
        }
    }

    /// Whether the last call was still running when the source was cancelled, or began after that.
    var wasCancelledInTime: Bool {
        times.withLock { times in times.cancellation.map { $0 < times.call.end } ?? false }
    }

    /// The outcome of a call.
    enum Outcome<Value: Sendable>: Sendable {
        case returned(Value)
        case threw(InletError, typed: Bool)
        case hung
    }

    /// - Parameters:
    ///   - clock: the source's clock. The default is the machine's.
    ///   - logger: the source's logger. The default drops everything.
    init(
        _ configuration: any FrameSourceConfiguration, limit: Duration, clock: any CaptureClock = RealClock(),
        logger: Logger = Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.limit = limit
        context = SourceContext(clock: clock, wakeUpDescriptor: wakeUp.descriptor, logger: logger)
        source = configuration.makeSource()
    }

    func cancel() {
        times.withLock { $0.cancellation = .now }
        context.cancel()
        wakeUp.raise()
    }

    func open() async -> Outcome<SourceFormat> {
        await call { source, context in try source.open(context) }
    }

    func next() async -> Outcome<SourceItem?> {
        await call { source, context in try source.next(context) }
    }

    /// Calls `next`, and cancels the source after a delay from the start of the call, or right before the call if the
    /// delay is zero.
    ///
    /// This does not depend on the scheduling of a task: on a busy machine, a task would cancel long after the call had
    /// ended.
    func next(cancelledAfter delay: Duration) async -> Outcome<SourceItem?> {
        await call { source, context in
            if delay == .zero {
                self.cancel()
            } else {
                self.canceller.asyncAfter(deadline: .now() + .nanoseconds(Int(delay / .nanoseconds(1)))) {
                    self.cancel()
                }
            }
            return try source.next(context)
        }
    }

    func pause() async -> Outcome<Bool> {
        await call { source, context in try source.pause(context) }
    }

    func resume() async -> Outcome<Void> {
        await call { source, context in try source.resume(context) }
    }

    func close() async -> Outcome<Void> {
        await call { source, _ in source.close() }
    }

    /// Releases the source and returns a way to check whether it was deallocated.
    func release() async -> WeakReference? {
        await worker.run(within: limit) {
            let reference = self.source.map { WeakReference($0) }
            self.source = nil
            return reference
        } ?? nil
    }

    private func call<Value: Sendable>(
        _ body: @escaping @Sendable (any FrameSource, SourceContext) throws -> Value
    ) async -> Outcome<Value> {
        await worker.run(within: limit) { () -> Outcome<Value> in
            guard let source = self.source else { return .hung }
            let start = SuspendingClock.now
            defer { self.times.withLock { $0.call = (start, .now) } }
            do {
                return .returned(try body(source, self.context))
            } catch {
                return .threw(InletError(wrapping: error, operation: "the call"), typed: error is InletError)
            }
        } ?? .hung
    }
}

/// Reports whether an object is still alive.
///
/// `@unchecked Sendable`: the reference is written once, before it is shared, and reading a weak reference is atomic.
final class WeakReference: @unchecked Sendable {
    private weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }

    var isAlive: Bool { object != nil }

    /// Returns whether the object is deallocated within `limit`. The last thread that held it may be about to release
    /// it.
    func ends(within limit: Duration) async -> Bool {
        let deadline = SuspendingClock.now + limit
        while isAlive {
            guard SuspendingClock.now < deadline else { return false }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return true
    }
}
