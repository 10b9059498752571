import Dispatch
import InletCore
import Synchronization

// Unsafe: passes a source between threads.
/// Reads the packets of a live source on a separate thread, so that the source's input is drained however long decoding
/// takes.
///
/// The source is used by one thread at a time: by the thread of ``PacketInput`` until ``start(on:)``, after ``stop()``,
/// and from ``Next/relinquished`` until ``resume()``; else by the reader's.
@safe final class PacketReader: Sendable {
    // Not Sendable, and used by one thread at a time: `start` and `resume` hand it to the reader's thread, which has
    // exclusive use until it has reported that it relinquishes the source, or `stop` has waited for its end.
    nonisolated(unsafe) private let source: any FrameSource
    private let context: SourceContext
    private let queue = PacketQueue()
    private let state = Mutex(State())
    /// Signalled when ``State/command`` was carried out, or the thread has ended.
    private let answered = DispatchSemaphore(value: 0)
    /// Signalled when a paused thread has a command to carry out.
    private let commanded = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// The result of ``take()``.
    enum Next {
        case packet(PacketQueue.Taken)
        /// The end of the stream.
        case ended
        /// All packets were taken, and the reader leaves the source to the caller until ``resume()``.
        case relinquished
    }

    private enum Command { case pause, relinquish, resume, stop }

    private struct State {
        var command: Command?
        var hasRelinquished = false
        var answer: Result<Bool, InletError>?
        var hasEnded = false
    }

    init(_ source: any FrameSource, _ context: SourceContext) {
        unsafe self.source = source
        self.context = context
    }

    /// - Parameter startThread: runs a function on a new thread.
    /// - Throws: if the system refuses a thread.
    func start(on startThread: (@escaping @Sendable () -> Void) throws -> Void) throws {
        try startThread { self.main() }
    }

    /// Returns the next packet. Blocks until there is one.
    ///
    /// - Throws: the error that the source failed with, when all packets were taken.
    func take() throws(InletError) -> Next {
        switch try queue.take(mayWait: { state.withLock { !$0.hasRelinquished } }) {
        case .packet(let taken): .packet(taken)
        case .ended: .ended
        case .none: .relinquished
        }
    }

    /// Asks for the source. ``take()`` returns ``Next/relinquished`` once the caller has it.
    func relinquish() {
        state.withLock { state in
            if state.command == nil, !state.hasRelinquished { state.command = .relinquish }
        }
    }

    /// Pauses the source, as ``FrameSource/pause(_:)``. Packets that were read and not taken are discarded.
    func pause() throws(InletError) -> Bool {
        // The next `take` reports the end.
        guard !state.withLock({ $0.hasEnded }) else { return true }
        let isPaused = try ask(.pause)
        if isPaused { queue.clear() }
        return isPaused
    }

    /// Resumes the source, as ``FrameSource/resume(_:)``, or reads on if the source was relinquished.
    func resume() throws(InletError) { _ = try ask(.resume) }

    /// Ends the thread. The source's context must be cancelled before.
    func stop() {
        state.withLock { $0.command = .stop }
        queue.close()
        commanded.signal()
        ended.wait()
    }

    private func ask(_ command: Command) throws(InletError) -> Bool {
        let hasEnded = state.withLock { state in
            (state.command, state.answer) = (command, nil)
            return state.hasEnded
        }
        // The source is closed and opened again.
        if hasEnded { return false }
        queue.interruptPut()
        commanded.signal()
        while true {
            answered.wait()
            if let answer = state.withLock({ $0.answer }) { return try answer.get() }
            if state.withLock({ $0.hasEnded }) { return false }
        }
    }

    // MARK: On the thread

    private func main() {
        queue.finish(read())
        state.withLock { $0.hasEnded = true }
        answered.signal()
        ended.signal()
    }

    private var command: Command? { state.withLock { $0.command } }

    /// Whether a packet may wait for room in the queue. In a pause it would be discarded.
    private var mayWait: Bool {
        switch command {
        case .pause, .stop: false
        case .relinquish, .resume, nil: true
        }
    }

    private func read() -> Result<Void, InletError> {
        do {
            while true {
                switch command {
                case .stop: return .success(())
                case .pause: if try pauseSource() == .stop { return .success(()) }
                case .relinquish:
                    relinquishSource()
                    // The command that ended this is handled first.
                    continue
                case .resume: answer(.success(true))
                case nil: break
                }
                switch unsafe try source.next(context) {
                case .packet(var packet):
                    if packet.isKey { context.noteKeyFrame() }
                    // The time in the queue counts as lag, also for a source that does not state when data arrived.
                    packet.receiveTime = packet.receiveTime ?? context.clock.now
                    while !queue.put(packet, mayWait: { mayWait }), mayWait {}
                case .frame: break
                case nil: return .success(())
                }
            }
        } catch {
            return .failure(InletError(wrapping: error, operation: "The source"))
        }
    }

    /// Pauses the source until it should continue.
    ///
    /// - Returns: the command to carry out then.
    private func pauseSource() throws -> Command? {
        guard unsafe try source.pause(context) else {
            answer(.success(false))
            return nil
        }
        answer(.success(true))
        while command == nil { commanded.wait() }
        guard command == .resume else { return command }
        unsafe try source.resume(context)
        answer(.success(true))
        return nil
    }

    /// Leaves the source to the taking thread until there is another command.
    private func relinquishSource() {
        let isTaken = state.withLock { state in
            guard state.command == .relinquish else { return false }
            state.command = nil
            state.hasRelinquished = true
            return true
        }
        guard isTaken else { return }
        queue.interruptTake()
        while command == nil { commanded.wait() }
        state.withLock { $0.hasRelinquished = false }
    }

    private func answer(_ answer: Result<Bool, InletError>) {
        state.withLock { state in
            // A command that arrived meanwhile stays.
            if state.command != .stop { state.command = nil }
            state.answer = answer
        }
        answered.signal()
    }
}
