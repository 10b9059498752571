import CInletPlugin
import CLinux
import Glibc
import InletCore
import InletPluginIPC
import InletSystem
import ReferenceTools

/// An `inlet-plugin-host` that a test controls as Inlet does. It is killed and reaped with its last reference.
@safe final class PluginChild {
    /// The reason why a test cannot continue.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The way in which the process ended.
    enum End: Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// The last message.
    private(set) var message = MessageBuffer()
    /// The notes before it.
    private(set) var notes: [inlet_note] = []
    private var socket: MessageSocket?
    private let wake: WakeUpSignal
    private let process: pid_t
    private var end: End?
    private let folder: TemporaryFolder

    /// Far longer than any operation here takes.
    private static let patience: Int32 = 60_000

    /// Starts the program, with a descriptor 9 that it must not keep.
    ///
    /// - Parameter launcher: a program, with its arguments, that starts it. Empty by default.
    init(_ arguments: [String], through launcher: [String] = []) throws {
        let (ours, theirs) = try MessageSocket.pair()
        wake = try WakeUpSignal()
        folder = try TemporaryFolder()
        socket = ours
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, folder.path("output"), O_WRONLY | O_CREAT, 0o600)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Another number first: a descriptor that is already 3 would be closed on execution.
        unsafe posix_spawn_file_actions_adddup2(&actions, theirs.descriptor, 9)
        unsafe posix_spawn_file_actions_adddup2(&actions, 9, INLET_CHILD_SOCKET)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 9)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe (launcher + [BuiltProgram.pluginHost] + arguments).map {
            unsafe strdup($0)
        }
        unsafe words.append(nil)
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("SECRET=1"), nil]
        defer { unsafe free(environment[0]) }
        var child: pid_t = 0
        let status = unsafe posix_spawn(
            &child, launcher.first ?? BuiltProgram.pluginHost, &actions, nil, &words, &environment)
        guard status == 0 else { throw Failure(description: SystemErrorText.of(status)) }
        process = child
    }

    deinit {
        if end == nil {
            kill(process, SIGKILL)
            _ = waitpid(process, nil, 0)
        }
    }

    // MARK: Questions

    /// Sends CREATE and returns the answer.
    func create(
        _ options: [(String, String)] = [], kind: Int = INLET_KIND_SOURCE
    ) throws -> inlet_wire_result {
        var request = inlet_create()
        request.type = UInt32(INLET_MESSAGE_CREATE)
        request.kind = UInt32(kind)
        request.major = UInt16(INLET_PLUGIN_MAJOR)
        request.option_count = UInt32(options.count)
        let texts = ["test", "address"] + options.flatMap { [$0.0, $0.1] }
        try send(request, texts.flatMap { Array($0.utf8) + [0] }, descriptor: wake.descriptor)
        return try receive(INLET_MESSAGE_RESULT)
    }

    /// Sends OPEN, PAUSE, RESUME or CLOSE.
    func send(_ type: Int) throws {
        var request = inlet_message()
        request.type = UInt32(type)
        request.deadline = .max
        try send(request)
    }

    /// Sends NEXT with all slots free.
    func sendNext(freeSlots: UInt64 = .max) throws {
        var request = inlet_next()
        request.type = UInt32(INLET_MESSAGE_NEXT)
        request.deadline = .max
        request.free_slots = freeSlots
        request.demand.wants_pictures = 1
        try send(request)
    }

    /// Sends a segment.
    func send(_ segment: TestSegment) throws {
        try send(segment.message, descriptor: segment.descriptor)
    }

    /// Sends any message.
    func send(_ message: some BitwiseCopyable, _ trailer: [UInt8] = [], descriptor: Int32 = -1) throws {
        try socket?.send(message, trailer, descriptor: descriptor)
    }

    /// Makes the wake descriptor readable.
    func cancel() { wake.raise() }

    /// Closes this end, as if Inlet had died.
    func hangUp() { socket = nil }

    // MARK: Answers

    /// Waits for a message that is not a note, which must be of this type, and returns it.
    func receive<Message: BitwiseCopyable>(_ type: Int) throws -> Message {
        try receiveAny()
        guard message.type == UInt32(type), let message = message.read(Message.self) else {
            let text = message.read(inlet_wire_result.self).flatMap { FixedText.text($0.message) } ?? ""
            throw Failure(description: "a message \(message.type) instead of \(type): \(text)")
        }
        return message
    }

    /// Waits for a message that is not a note.
    func receiveAny() throws {
        notes = []
        while true {
            try receiveOne()
            guard (INLET_MESSAGE_PROGRESS...INLET_MESSAGE_KEY_FRAME).contains(Int(message.type)) else { return }
            var note = inlet_note()
            note.type = message.type
            notes.append(message.read(inlet_note.self) ?? note)
        }
    }

    /// Returns the texts of all notes until the connection ends.
    func remainingNotes() -> [String] {
        var texts: [String] = []
        while (try? receiveOne()) != nil {
            if let note = message.read(inlet_note.self) { texts.append(FixedText.text(note.text) ?? "") }
        }
        return texts
    }

    private func receiveOne() throws {
        guard let socket else { throw Failure(description: "hung up") }
        while true {
            do throws(MessageSocket.ReceiveFailure) {
                return try socket.receive(into: &message)
            } catch {
                guard case .empty = error else { throw Failure(description: "the connection ended: \(error)") }
                var request = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&request, 1, Self.patience) > 0 else { throw Failure(description: "no answer") }
            }
        }
    }

    /// Waits for the process to end.
    func waitForEnd() throws -> End {
        if let end { return end }
        for _ in 0..<Self.patience / 5 {
            var status: Int32 = 0
            if unsafe waitpid(process, &status, WNOHANG) == process {
                let signal = status & 0x7F
                let end = signal == 0 ? End.exit(status >> 8 & 0xFF) : .signal(signal)
                self.end = end
                return end
            }
            usleep(5000)
        }
        throw Failure(description: "the process does not end")
    }

    /// The process's standard output and standard error.
    var output: String {
        let file = unsafe open(folder.path("output"), O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = unsafe read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

extension inlet_wire_result {
    /// The sentence.
    var text: String { FixedText.text(message) ?? "not UTF-8" }
}
