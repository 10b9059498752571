import Foundation

/// The lines that a test server prints, read as they come, and its error output.
///
/// Safe to use from any thread.
final class PeerOutput: @unchecked Sendable {
    // `condition` protects all mutable state, so the type is safely Sendable.
    private let condition = NSCondition()
    private var messages: [PeerMessage] = []
    private var told: [PeerMessage] = []
    private var line = Data()
    private var complaints = Data()
    private var isEnded = false

    /// The maximum size of the error output; the oldest bytes are dropped first.
    private static let keptBytes = 64 * 1024

    /// Reads both to their ends, on a separate thread.
    ///
    /// `FileHandle.readabilityHandler` would need no thread, but a handle that is released closes its descriptor before
    /// Dispatch has taken it out of its epoll set. The next event for it then ends the process with SIGSEGV.
    init(answers: FileHandle, complaints: FileHandle) {
        let reader = Thread { [weak self] in
            Self.read([answers, complaints]) { index, bytes in
                if index == 0 { self?.received(bytes) } else { self?.complained(bytes) }
            }
        }
        reader.name = "peer output"
        reader.start()
    }

    /// Reads from several pipes as bytes come.
    ///
    /// - Parameter each: called with a pipe's index and its bytes. They are empty at the pipe's end.
    private static func read(_ pipes: [FileHandle], each: (Int, Data) -> Void) {
        var polled = pipes.map { pollfd(fd: $0.fileDescriptor, events: Int16(POLLIN), revents: 0) }
        while polled.contains(where: { $0.fd >= 0 }) {
            guard unsafe poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            for index in polled.indices where polled[index].revents != 0 {
                let bytes = pipes[index].availableData
                // poll() ignores a negative descriptor.
                if bytes.isEmpty { polled[index].fd = -1 }
                each(index, bytes)
            }
        }
    }

    /// Returns the next message.
    ///
    /// - Throws: ``PeerProcess/Failure`` if no message comes in time or the script has ended.
    func next(within limit: Duration) throws -> PeerMessage {
        let deadline = Date(timeIntervalSinceNow: limit / .seconds(1))
        condition.lock()
        defer { condition.unlock() }
        while messages.isEmpty {
            if isEnded { throw PeerProcess.Failure(description: "the script has ended.") }
            guard condition.wait(until: deadline) else {
                throw PeerProcess.Failure(description: "nothing was printed within \(limit).")
            }
        }
        return messages.removeFirst()
    }

    /// The events of the script: its lines with an `event`.
    var events: [PeerMessage] {
        condition.lock()
        defer { condition.unlock() }
        return told
    }

    /// The script's standard error.
    var text: String {
        condition.lock()
        defer { condition.unlock() }
        return String(decoding: complaints, as: UTF8.self)
    }

    private func received(_ bytes: Data) {
        condition.lock()
        defer { condition.unlock() }
        isEnded = isEnded || bytes.isEmpty
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if let message = try? JSONDecoder().decode(PeerMessage.self, from: line) {
                if message["event"] == nil { messages.append(message) } else { told.append(message) }
            } else {
                complaints.append(line)
            }
            line.removeAll()
        }
        condition.broadcast()
    }

    private func complained(_ bytes: Data) {
        condition.lock()
        defer { condition.unlock() }
        complaints.append(bytes)
        complaints.removeFirst(max(0, complaints.count - Self.keptBytes))
    }
}
