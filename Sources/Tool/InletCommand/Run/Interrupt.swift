import Dispatch
import Glibc

// Unsafe: has a count that only its queue uses.
/// Turns SIGINT and SIGTERM into a clean stop; a second one ends the process at once, as does one before or after this
/// object's lifetime.
final class Interrupt {
    private static let signals = [SIGINT, SIGTERM]
    private let sources: [any DispatchSourceSignal]

    /// - Parameter onFirst: called at the first signal, on a private queue.
    init(onFirst: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "inlet.interrupt")
        let count = Count()
        sources = Self.signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if count.value > 0 { _exit(ExitStatus.interrupted.rawValue) }
                count.value += 1
                onFirst()
            }
            source.activate()
            return source
        }
    }

    deinit {
        for source in sources { source.cancel() }
        for number in Self.signals { signal(number, SIG_DFL) }
    }

    /// Accessed only on the one queue of all handlers.
    private final class Count: @unchecked Sendable { var value = 0 }
}
