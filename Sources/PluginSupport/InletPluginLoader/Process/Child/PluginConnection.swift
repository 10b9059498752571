import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem
import Logging

/// Sends requests to the child process of a plug-in, waits for its answers, and ends it.
///
/// Nothing that the child does blocks a call beyond its limit. Must not be used from two threads at once.
final class PluginConnection {
    private let name: String
    /// Name of the child in messages, such as `plug-in x`.
    private let noun: String
    /// Whether the child runs a source of Inlet's own.
    private let isOwn: Bool
    private let process: PluginProcess
    private let socket: MessageSocket
    private let wakeUp: CancelSignal
    private var buffer = MessageBuffer()
    private var log: PluginLog
    /// Whether the child is killed without being asked to close: it has ended, lied or overrun a deadline.
    private var isBroken = false
    /// Whether a request has no answer yet.
    private var isAsked = false
    private var isClosed = false

    /// The most notes between a request and its answer.
    static let mostNotes = 10_000
    /// How long a child may take to end: the limit of `inlet_plugin.h` for `close`, and some more.
    private static let closingLimit = Duration.milliseconds(1200)

    /// Starts the child process.
    ///
    /// - Throws: ``InletError/Code/notFound`` if `inlet-plugin-host` does not exist;
    ///   ``InletError/Code/resourceExhausted`` if the system refuses the resources of a child.
    init(
        to program: PluginProgram, probes: Bool = false, exercise: String? = nil, logger: Logger
    ) throws(InletError) {
        if !probes { try program.makeNewFiles() }
        (name, noun, isOwn) = (program.name, program.noun, false)
        log = PluginLog(logger, name: program.name)
        wakeUp = try CancelSignal()
        let (own, childs) = try MessageSocket.pair()
        defer { withExtendedLifetime(childs) {} }
        socket = own
        process = try PluginProcess(
            of: noun, program.resolvedHostPath(), program.hostArguments(probes: probes, exercise: exercise),
            socket: childs.descriptor)
    }

    /// Starts the child process of a source.
    ///
    /// - Throws: as for a plug-in.
    init(to source: SourceProcessConfiguration, logger: Logger) throws(InletError) {
        (name, noun, isOwn) = (source.name, source.noun, true)
        log = PluginLog(logger, name: source.name)
        wakeUp = try CancelSignal()
        let (own, childs) = try MessageSocket.pair()
        defer { withExtendedLifetime(childs) {} }
        socket = own
        // `/proc/self/exe` names the running file even after an update replaced it.
        process = try PluginProcess(
            of: noun, source.programPath ?? "/proc/self/exe", [SourceServer.word, source.name],
            socket: childs.descriptor, title: "inlet", inheritsEnvironment: true)
    }

    deinit { close() }

    /// The child's process id, while it runs.
    var processID: Int32 { process.number }

    /// Sends the message that makes an instance of a source or sink, with the descriptor that cancels it.
    func sendCreate(
        kind: Int, scheme: String, address: String, options: [(name: String, value: String)]
    ) throws(InletError) {
        let trailer = ConfigurationMemory.texts(scheme: scheme, address: address, options: options)
        guard trailer.count(where: { $0 == 0 }) == 2 * (options.count + 1),
            trailer.count <= Int(INLET_LONGEST_MESSAGE) - MemoryLayout<inlet_create>.size
        else {
            throw InletError(
                .invalidConfiguration,
                "The options of the \(noun) are too long, or hold a zero byte. Shorten them.")
        }
        let create = inlet_create(
            type: UInt32(INLET_MESSAGE_CREATE), kind: UInt32(kind), major: UInt16(INLET_PLUGIN_MAJOR),
            minor: UInt16(INLET_PLUGIN_MINOR), option_count: UInt32(options.count))
        try send(create, trailer, descriptor: wakeUp.descriptor)
    }

    /// Sends a request in the form of `inlet_message`.
    func send(_ type: Int, due: Int64) throws(InletError) {
        try send(inlet_message(type: UInt32(type), reserved: 0, deadline: due))
    }

    /// Sends a message. If the child is gone, this is not an error: the next wait for an answer reports the reason.
    func send(
        _ message: some BitwiseCopyable, _ trailer: [UInt8] = [], descriptor: Int32 = -1
    ) throws(InletError) {
        isAsked = true
        do throws(MessageSocket.SendFailure) {
            try socket.send(message, trailer, descriptor: descriptor)
        } catch {
            switch error {
            case .closed: return
            case .full: throw rejection(PluginLie("does not read what Inlet sends"))
            case .system(let number):
                throw InletError(
                    .inputOutput,
                    "Nothing can be sent to the \(noun): \(SystemErrorText.of(number)). Start it again.",
                    context: .init(operation: "sendmsg", nativeCode: number))
            }
        }
    }

    /// Waits for the next message that is not a note, for ``read(_:)`` to return.
    ///
    /// - Parameter onNote: receives the notes before it, except log lines. It throws a ``PluginLie`` for a note that
    ///   the child may not send.
    /// - Returns: the message's type.
    /// - Throws: ``InletError/Code/cancelled``, ``InletError/Code/timedOut``, the error for the child's death, or
    ///   ``InletError/Code/pluginRejected`` if the child violates the protocol.
    func receive(
        within limit: CallLimit, onNote: (PluginNote) throws(PluginLie) -> Void
    ) throws(InletError) -> Int {
        var (notes, hasEnded) = (0, false)
        while true {
            if limit.isCancelled { throw cancelled() }
            do throws(MessageSocket.ReceiveFailure) {
                try socket.receive(into: &buffer)
            } catch {
                switch error {
                case .empty:
                    if hasEnded { throw death() }
                    // Messages from before its end are read first.
                    hasEnded = try wait(within: limit)
                    continue
                case .closed: throw death()
                case .tooLong:
                    throw rejection(PluginLie("sent a message of more than \(INLET_LONGEST_MESSAGE) bytes"))
                case .system(let number):
                    throw InletError(
                        .inputOutput,
                        "Cannot receive from the \(noun): \(SystemErrorText.of(number)). "
                            + "Start it again.",
                        context: .init(operation: "recvmsg", nativeCode: number))
                }
            }
            guard PluginNote.isNote(buffer.type) else {
                isAsked = false
                return Int(buffer.type)
            }
            do throws(PluginLie) {
                notes += 1
                guard notes <= Self.mostNotes else {
                    throw PluginLie("sent more than \(Self.mostNotes) notes instead of an answer")
                }
                let note = try PluginNote(buffer)
                if case .log(let level, let text) = note { log.write(level, text) } else { try onNote(note) }
            } catch {
                throw rejection(error)
            }
        }
    }

    /// Waits for the child's answer to a request that is answered only by a result.
    func receiveResult(
        within limit: CallLimit, to question: String, onNote: (PluginNote) throws(PluginLie) -> Void
    ) throws(InletError) -> inlet_wire_result {
        let type = try receive(within: limit, onNote: onNote)
        guard type == INLET_MESSAGE_RESULT else { throw unexpected(type, question) }
        return try read(inlet_wire_result.self)
    }

    /// Returns the struct at the start of the message that was received last.
    func read<Message: BitwiseCopyable>(_ type: Message.Type) throws(InletError) -> Message {
        guard let message = buffer.read(type) else {
            throw rejection(PluginLie("sent a message that is shorter than its type requires"))
        }
        return message
    }

    /// Returns the bytes after a struct in the message that was received last.
    func trailer<Message: BitwiseCopyable>(after type: Message.Type) -> [UInt8] { buffer.trailer(after: type) }

    /// Waits until there may be a message.
    ///
    /// - Returns: whether the child has ended, so that no other message will come.
    private func wait(within limit: CallLimit) throws(InletError) -> Bool {
        let left = limit.remaining
        guard left > .zero else { throw overrun() }
        let ready = Polling.wait(
            [socket.descriptor, limit.wakeUpDescriptor, process.descriptor, process.output], for: left)
        if ready & 8 != 0 { process.drainOutput() }
        return ready & 5 == 4
    }

    // MARK: Errors

    /// Makes the error for a result other than success, of the message that was received last.
    func failure(_ result: inlet_wire_result, to operation: String, isCancelled: Bool) -> InletError {
        var error = inlet_error.empty
        error.native_code = result.native_code
        error.retry_after = result.retry_after
        error.message = result.message
        switch PluginCall.error(result.result, error, of: name, noun: noun, operation, isCancelled: isCancelled) {
        case .success(var error):
            if isOwn, let code = namedCode(of: result.result) { error.code = code }
            return error
        case .failure(let lie): return rejection(lie)
        }
    }

    /// Returns the code that the child of a source names after its result; nil if that code does not belong to the
    /// result.
    private func namedCode(of result: inlet_result) -> InletError.Code? {
        let bytes = buffer.trailer(after: inlet_wire_result.self)
        return String(validating: bytes, as: UTF8.self).flatMap { ResultCode.code(named: $0, of: result) }
    }

    /// Makes the error for a message that does not answer the request.
    func unexpected(_ type: Int, _ question: String) -> InletError {
        rejection(PluginLie("answered \(question) with a message of the type \(type)"))
    }

    /// Kills the child because of its message, and makes the error for that.
    func rejection(_ lie: PluginLie) -> InletError {
        breakOff()
        guard isOwn else { return PluginCall.rejection(lie, of: name) }
        // The child's memory is corrupt, as before a crash: a new process may do better.
        return InletError(
            .disconnected,
            "The \(noun) \(lie.text), and was ended. It is restarted if the retry policy allows it.")
    }

    private func overrun() -> InletError {
        breakOff()
        return InletError(
            .timedOut, "The \(noun) did not answer in time, and was ended. Check its device, or report this.")
    }

    private func cancelled() -> InletError {
        wakeUp.raise()
        return InletError(.cancelled, "The \(noun) was stopped.")
    }

    private func breakOff() {
        isBroken = true
        process.kill()
    }

    /// Makes the error for a child that has ended, or closed its connection.
    private func death() -> InletError {
        isBroken = true
        let wasAlive = !process.waits(for: Self.closingLimit)
        _ = process.end(within: .zero)
        let end = PluginEnd(process.exit, wasAlive: wasAlive, isOwn: isOwn)
        let tail = process.tail.text.map { " It wrote: \($0)." } ?? ""
        return InletError(end.code, "The \(noun) \(end.text)\(tail) \(end.advice)")
    }

    // MARK: The end

    /// Ends the child: asks it to close, waits a moment, and kills it. Later calls do nothing.
    ///
    /// - Parameters:
    ///   - limit: how long it may take.
    ///   - onNote: receives the notes that it sent since its last answer.
    /// - Returns: whether it ended by itself, as requested.
    @discardableResult func close(
        within limit: Duration = closingLimit, onNote: (PluginNote) throws(PluginLie) -> Void = { _ in }
    ) -> Bool {
        guard !isClosed else { return false }
        isClosed = true
        defer { log.flush() }
        guard !isBroken else {
            _ = process.end(within: .zero)
            return false
        }
        // A child that is still busy with a request reads no further message before it is cancelled.
        if isAsked { wakeUp.raise() }
        let message = inlet_message(
            type: UInt32(INLET_MESSAGE_CLOSE), reserved: 0, deadline: (MonotonicTime.now + limit).nanoseconds)
        var isTold = true
        do throws(MessageSocket.SendFailure) { try socket.send(message) } catch { isTold = false }
        _ = process.end(within: isTold ? limit : .zero)
        readLastNotes(onNote)
        return process.exit == .status(0)
    }

    /// Reads the child's messages from before its end. Messages other than notes, and wrong notes, no longer matter.
    private func readLastNotes(_ onNote: (PluginNote) throws(PluginLie) -> Void) {
        for _ in 0..<Self.mostNotes {
            do throws(MessageSocket.ReceiveFailure) {
                try socket.receive(into: &buffer)
            } catch {
                return
            }
            guard PluginNote.isNote(buffer.type) else { continue }
            do throws(PluginLie) {
                let note = try PluginNote(buffer)
                if case .log(let level, let text) = note { log.write(level, text) } else { try onNote(note) }
            } catch {
                return
            }
        }
    }
}
