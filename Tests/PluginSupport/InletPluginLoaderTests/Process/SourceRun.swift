import Dispatch
import Glibc
import InletCore
import InletSystem
import Logging
import ReferenceTools
import Synchronization

@testable import InletPluginLoader

/// A source with a separate context, as the bridge runs it.
final class SourceRun {
    let source: any FrameSource
    let context: SourceContext
    let lines: LogLines
    let interruptions: Interruptions
    let updates = Updates()
    let configuration: PluginSourceConfiguration
    private let wakeUp: WakeUpSignal
    private var isClosed = false

    init(_ configuration: PluginSourceConfiguration) throws {
        self.configuration = configuration
        let lines = LogLines()
        let interruptions = Interruptions()
        wakeUp = try WakeUpSignal()
        var logger = Logger(label: "test") { _ in lines }
        logger.logLevel = .trace
        context = SourceContext(
            clock: RealTime(), wakeUpDescriptor: wakeUp.descriptor, logger: logger,
            onInterruption: { text in interruptions.texts.withLock { $0.append(text) } },
            onUpdate: { [updates] update in updates.all.withLock { $0.append(update) } })
        (self.lines, self.interruptions) = (lines, interruptions)
        source = configuration.makePacketSource()
        context.setDeadline(after: .seconds(60))
    }

    deinit { close() }

    /// Opens the source.
    func open() throws -> SourceFormat { try source.open(context) }

    /// Reads a frame.
    func frame() throws -> SourceFrame? { try source.next(context)?.frame }

    /// Closes the source once.
    func close() {
        if !isClosed { source.close() }
        isClosed = true
    }

    /// Cancels the source from another thread after a while.
    func cancel(after delay: Duration) {
        let (context, wakeUp) = (context, wakeUp)
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(delay.wholeNanoseconds))) {
            context.cancel()
            wakeUp.raise()
        }
    }

    /// Returns the error of a call.
    static func error(of body: () throws -> Void) -> InletError? {
        do {
            try body()
            return nil
        } catch {
            return InletError(wrapping: error, operation: "the test")
        }
    }

    /// The results of plug-in updates.
    final class Updates: Sendable {
        let all = Mutex([SourceUpdate]())

        /// The versions that the source switched to.
        var taken: [String] {
            all.withLock { $0.compactMap { if case .taken(let version) = $0 { version } else { nil } } }
        }

        /// The reasons for refused versions.
        var refused: [InletError] {
            all.withLock { $0.compactMap { if case .refused(let error) = $0 { error } else { nil } } }
        }
    }

    /// The reported interruptions.
    final class Interruptions: Sendable {
        let texts = Mutex([String?]())
    }
}

/// The machine's clock.
struct RealTime: CaptureClock {
    var now: MonotonicTime { .now }

    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        while deadline > .now {
            if Polling.wait([wakeUpDescriptor, -1, -1, -1], for: deadline - .now) != 0 { return false }
        }
        return true
    }

    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        DispatchTimer(on: queue, handler: handler)
    }
}
