import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem
import Synchronization

/// The child's end of the connection to Inlet. Safe from any thread.
final class HostChannel: Sendable {
    /// The only connection of the process. It is global because a plug-in's log function has no context.
    static let shared = HostChannel()

    /// The first descriptor that the process must not have at its start.
    static let firstForeignDescriptor = INLET_CHILD_SOCKET + 1

    /// The socket, for polling and receiving.
    let socket = MessageSocket(adopting: INLET_CHILD_SOCKET)
    private let lines = Mutex(LineLimit())
    private let unsent = Atomic<UInt64>(0)

    /// The time for which an answer waits for room. Inlet reads all the time, so that the lack of room means that it is
    /// gone, or about to be.
    private static let patience: Int64 = 5_000_000_000

    private init() {}

    /// Sends an answer. Waits a few seconds for room; ends the process if the channel stays full, or Inlet is gone.
    func answer(_ message: some BitwiseCopyable, _ trailer: [UInt8] = []) {
        reportLeftOut()
        let deadline = MonotonicTime.now.nanoseconds + Self.patience
        while true {
            do throws(MessageSocket.SendFailure) {
                return try socket.send(message, trailer)
            } catch {
                guard case .full = error, MonotonicTime.now.nanoseconds < deadline else { _exit(ExitCode.gone) }
                Descriptors.wait(for: [socket.descriptor], Int16(POLLOUT), until: deadline)
            }
        }
    }

    /// Sends an `inlet_wire_result` without an error.
    func answer(_ result: Int) {
        var answer = inlet_wire_result()
        answer.type = UInt32(INLET_MESSAGE_RESULT)
        answer.result = inlet_result(result)
        self.answer(answer)
    }

    /// Sends a message that needs no answer. If the channel is full, counts the message as lost instead of waiting.
    func note(_ type: Int, text: String = "", count: UInt64 = 0, level: inlet_log_level = 0) {
        var note = inlet_note()
        note.type = UInt32(type)
        note.level = level
        note.count = count
        FixedText.write(text, to: &note.text)
        send(note)
    }

    /// Sends a note that is a type and no more.
    func note(_ type: Int) {
        var note = inlet_message()
        note.type = UInt32(type)
        send(note)
    }

    /// Sends a line of the log, at the level `info` if the level is unknown; counts it beyond a hundred in a second.
    func log(_ level: inlet_log_level, _ text: String) {
        reportLeftOut()
        guard lines.withLock({ $0.admits(at: MonotonicTime.now.nanoseconds) }) else { return }
        let isKnown = (INLET_LOG_DEBUG...INLET_LOG_ERROR).contains(Int(level))
        note(INLET_MESSAGE_LOG, text: text, level: isKnown ? level : inlet_log_level(INLET_LOG_INFO))
    }

    /// Reports the number of omitted lines, once lines may be sent again.
    private func reportLeftOut() {
        let leftOut = lines.withLock { $0.takeLeftOut(at: MonotonicTime.now.nanoseconds) }
        let lost = unsent.exchange(0, ordering: .relaxed)
        guard leftOut > 0 || lost > 0 else { return }
        var parts: [String] = []
        if leftOut > 0 {
            parts.append("\(leftOut) more lines of the log were left out: at most 100 a second are kept.")
        }
        if lost > 0 { parts.append("\(lost) notes were lost, as Inlet did not read them in time.") }
        note(
            INLET_MESSAGE_LOG, text: parts.joined(separator: " "), count: leftOut &+ lost,
            level: inlet_log_level(INLET_LOG_WARNING))
    }

    private func send(_ note: some BitwiseCopyable) {
        do throws(MessageSocket.SendFailure) {
            try socket.send(note)
        } catch {
            // A connection that is gone is the watchdog's.
            if case .full = error { unsent.add(1, ordering: .relaxed) }
        }
    }
}
