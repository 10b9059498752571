import Foundation

/// The lines that a test server prints, read as they come, and what it complained of.
///
/// Safe to use from any thread.
final class PeerOutput: @unchecked Sendable {
    // All that changes is touched under `condition` only, which is what makes the type Sendable.
    private let condition = NSCondition()
    private var messages: [PeerMessage] = []
    private var told: [PeerMessage] = []
    private var line = Data()
    private var complaints = Data()
    private var isEnded = false

    /// The most that is kept of complaints; the oldest go first.
    private static let keptBytes = 64 * 1024

    init(answers: FileHandle, complaints: FileHandle) {
        answers.readabilityHandler = { [weak self] handle in
            let bytes = handle.availableData
            if bytes.isEmpty { handle.readabilityHandler = nil }
            self?.received(bytes)
        }
        complaints.readabilityHandler = { [weak self] handle in
            let bytes = handle.availableData
            if bytes.isEmpty { handle.readabilityHandler = nil }
            self?.complained(bytes)
        }
    }

    /// The next message.
    ///
    /// - Throws: ``PeerProcess/Failure`` where none comes in time or the script has ended.
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

    /// What the script has told by itself: the lines with an `event`.
    var events: [PeerMessage] {
        condition.lock()
        defer { condition.unlock() }
        return told
    }

    /// What the script wrote to standard error.
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
