import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem
import Logging
import Synchronization

// Unsafe: waits in `poll`.
/// The child's end of the connection. Safe from any thread.
final class SourceServerChannel: Sendable {
    /// The state that a note reports. Only the newest note of each state matters.
    enum State: Hashable { case lag, interruption, detection(SourceDetection.Kind) }

    let socket: MessageSocket
    /// The notes for which there was no room, oldest first: one for each state.
    private let pending = Mutex<[(state: State, note: inlet_note)]>([])

    /// How long an answer waits for room: Inlet reads all the time.
    private static let patience = Duration.seconds(5)

    /// - Parameter socket: the connection. The default is the child's.
    init(_ socket: MessageSocket = MessageSocket(adopting: INLET_CHILD_SOCKET)) { self.socket = socket }

    /// Sends an answer, after the waiting notes of states; ends the process if Inlet is gone.
    func answer(_ message: some BitwiseCopyable, _ trailer: [UInt8] = []) {
        let deadline = MonotonicTime.now + Self.patience
        while !pending.withLock({ sendPending(of: &$0) }) {
            guard MonotonicTime.now < deadline else { _exit(SourceServer.ExitCode.gone) }
            _ = Self.wait(socket.descriptor, Int16(POLLOUT), for: .milliseconds(100))
        }
        while true {
            do throws(MessageSocket.SendFailure) {
                return try socket.send(message, trailer)
            } catch {
                guard case .full = error, MonotonicTime.now < deadline else { _exit(SourceServer.ExitCode.gone) }
                _ = Self.wait(socket.descriptor, Int16(POLLOUT), for: .milliseconds(100))
            }
        }
    }

    /// Answers with a result that is not an error.
    func answer(_ result: Int) {
        answer(
            inlet_wire_result(
                type: UInt32(INLET_MESSAGE_RESULT), result: inlet_result(result), native_code: 0, reserved: 0,
                retry_after: 0, message: inlet_wire_result().message, wants: inlet_sink_wants()))
    }

    /// Answers with an error.
    func answer(_ error: InletError) {
        var answer = inlet_wire_result()
        answer.type = UInt32(INLET_MESSAGE_RESULT)
        answer.result = ResultCode.result(of: error.code)
        answer.native_code = error.context.nativeCode ?? 0
        answer.retry_after = max(0, error.retryAfter?.wholeNanoseconds ?? 0)
        FixedText.write(error.message, to: &answer.message)
        // Several codes have the same result, and the daemon decides by the code whether to try again.
        self.answer(answer, Array(error.code.description.utf8.prefix(SourceReport.longestCode)))
    }

    /// Sends a message that needs no answer.
    ///
    /// - Returns: false if there was no room, so that it is lost.
    @discardableResult func note(_ note: inlet_note) -> Bool {
        do throws(MessageSocket.SendFailure) {
            try socket.send(note)
            return true
        } catch {
            // Without ending here, all further messages would be lost, too.
            guard case .full = error else { return true }
            return false
        }
    }

    /// Sends a note of a type; returns false if there was no room, so that it is lost.
    @discardableResult func note(_ type: Int, text: String = "", count: UInt64 = 0, level: Int = 0) -> Bool {
        note(Self.make(type, text: text, count: count, level: level))
    }

    /// Sends a note of a state. If there is no room, the newest note of each state is sent before the next answer.
    func note(_ state: State, _ note: inlet_note) {
        pending.withLock { pending in
            pending.removeAll { $0.state == state }
            pending.append((state, note))
            _ = sendPending(of: &pending)
        }
    }

    /// Sends waiting notes, as far as there is room.
    ///
    /// - Returns: whether no note waits any more.
    private func sendPending(of pending: inout [(state: State, note: inlet_note)]) -> Bool {
        while let first = pending.first {
            guard note(first.note) else { return false }
            pending.removeFirst()
        }
        return true
    }

    /// Makes a note of a type.
    static func make(_ type: Int, text: String = "", count: UInt64 = 0, level: Int = 0) -> inlet_note {
        var note = inlet_note()
        note.type = UInt32(type)
        note.level = inlet_log_level(level)
        note.count = count
        FixedText.write(text, to: &note.text)
        return note
    }

    /// Sends a message that consists only of its type.
    func noteProgress() {
        let message = inlet_message(type: UInt32(INLET_MESSAGE_PROGRESS), reserved: 0, deadline: 0)
        do throws(MessageSocket.SendFailure) { try socket.send(message) } catch {}
    }

    /// Receives the next message.
    ///
    /// - Parameter limit: how long to wait; nil for ever.
    /// - Returns: false if the time is over.
    /// - Throws: a failure if Inlet is gone.
    func receive(
        into buffer: inout MessageBuffer, within limit: Duration? = nil
    ) throws(MessageSocket.ReceiveFailure) -> Bool {
        let deadline = limit.map { .now + $0 } ?? MonotonicTime.distantFuture
        while true {
            do throws(MessageSocket.ReceiveFailure) {
                try socket.receive(into: &buffer)
                return true
            } catch {
                guard case .empty = error else { throw error }
            }
            let left = deadline == .distantFuture ? Duration.seconds(3600) : deadline - .now
            guard left > .zero else { return false }
            _ = Self.wait(socket.descriptor, Int16(POLLIN), for: left)
        }
    }

    /// Waits for a descriptor.
    ///
    /// - Returns: the events that `poll` reports; 0 when the time is over.
    static func wait(_ descriptor: Int32, _ events: Int16, for time: Duration) -> Int16 {
        var request = pollfd(fd: descriptor, events: events, revents: 0)
        let milliseconds = Int32(clamping: max(0, time.wholeNanoseconds / 1_000_000).adding(saturating: 1))
        return unsafe poll(&request, 1, milliseconds) > 0 ? request.revents : 0
    }
}

/// Forwards the child's log to Inlet, from the level info on.
struct SourceLogHandler: LogHandler {
    let channel: SourceServerChannel
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let level =
            switch event.level {
            case .trace, .debug: INLET_LOG_DEBUG
            case .info, .notice: INLET_LOG_INFO
            case .warning: INLET_LOG_WARNING
            case .error, .critical: INLET_LOG_ERROR
            }
        channel.note(INLET_MESSAGE_LOG, text: "\(event.message)", level: Int(level))
    }
}
