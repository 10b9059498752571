import Glibc
import InletCapture
package import InletCore
import InletSystem
package import Logging
import NIOCore
import NIOPosix
import Synchronization

// Unsafe: opens a file and appends to it.
/// Records each requested change in the daemon's log, and as a line of JSON at the end of a file. Safe from any thread.
/// A separate task writes the file. Records that cannot be written are counted in the next line that can.
package final class AuditLog: Sendable {
    private let logger: Logger
    private let lines: AsyncStream<AuditRecord.Timed>.Continuation?
    private let lost = Atomic(0)
    private let writer = Mutex<Task<Void, Never>?>(nil)
    /// The maximum number of records that wait to be written.
    private static let longestQueue = 1024

    /// Opens the file for appending. Creates it for this user only if it does not exist.
    ///
    /// - Parameters:
    ///   - path: the file; nil to use only the daemon's log.
    ///   - onFailure: called with a sentence when writing begins to fail.
    /// - Throws: ``InletError/Code/inputOutput`` if it cannot be opened.
    package init(
        path: String?, logger: Logger, onFailure: @escaping @Sendable (String) -> Void
    ) throws(InletError) {
        self.logger = logger
        guard let path else {
            lines = nil
            return
        }
        // Because of O_NONBLOCK, a named pipe without a reader is an error instead of a wait.
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw InletError(
                .inputOutput,
                "Cannot open the audit log '\(path)': \(SystemErrorText.of(errno)). Set audit: under server: to a file "
                    + "that this user may write.")
        }
        let (stream, continuation) = AsyncStream.makeStream(
            of: AuditRecord.Timed.self, bufferingPolicy: .bufferingOldest(Self.longestQueue))
        lines = continuation
        let task = Task { [weak self] in
            let file = AuditFile(descriptor: descriptor)
            var isFailing = false
            for await item in stream {
                let lost = self?.lost.exchange(0, ordering: .relaxed) ?? 0
                if let code = await file.write(item.record.line(time: item.time, lost: lost)) {
                    self?.lost.add(lost + 1, ordering: .relaxed)
                    if !isFailing {
                        onFailure("Cannot write the audit log '\(path)': \(SystemErrorText.of(code)).")
                    }
                    isFailing = true
                } else {
                    isFailing = false
                }
            }
            close(descriptor)
        }
        writer.withLock { $0 = task }
    }

    /// Records a change. Does not wait.
    func note(_ record: AuditRecord) {
        let time = AuditRecord.Timed.now
        logger.notice("audit \(record.line(time: time))")
        guard let lines else { return }
        if case .dropped = lines.yield(.init(record: record, time: time)) { lost.add(1, ordering: .relaxed) }
    }

    /// Writes the waiting records and closes the file. Returns when that is done, or after five seconds if the disk
    /// hangs.
    package func finish() async {
        lines?.finish()
        guard let writer = writer.withLock({ $0 }) else { return }
        let isOver = Completion<Void>()
        Task {
            await writer.value
            isOver.resolve(())
        }
        let limit = Task {
            try? await Task.sleep(for: .seconds(5))
            isOver.resolve(())
        }
        await isOver.value()
        limit.cancel()
    }
}

extension AuditRecord {
    /// A record and its time.
    struct Timed: Sendable {
        var record: AuditRecord
        /// The time in UTC (RFC 3339).
        var time: String

        /// The current time in milliseconds.
        static var now: String { WallTime.text(WallTime.now) }
    }
}

/// Appends lines to an open file. A program that reads lines gets each line as a whole or not at all. A disk that hangs
/// delays only the audit log's thread.
private actor AuditFile {
    private static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    // Unsafe: an executor without a reference count. It lives as long as the process.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe Self.thread.next().executor.asUnownedSerialExecutor()
    }

    let descriptor: Int32
    /// Whether the file ends with a part of a line.
    private var isTorn = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Writes a line.
    ///
    /// - Returns: the `errno` if writing failed; nil if it succeeded.
    func write(_ line: String) -> Int32? {
        let bytes = Array(((isTorn ? "\n" : "") + line + "\n").utf8)
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                if done > 0 { isTorn = true }
                return count < 0 ? errno : ENOSPC
            }
            done += count
        }
        isTorn = false
        return nil
    }
}
