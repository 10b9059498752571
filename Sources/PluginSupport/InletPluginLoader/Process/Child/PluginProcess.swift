import CLinux
import Glibc
import InletCore
import InletPluginIPC
import InletSystem

// Unsafe: calls the system's functions for processes.
/// Owns the child process of a plug-in.
///
/// The child has a socket, a pipe for its standard output and standard error, no other descriptor, no environment and a
/// separate process group. Must not be used from two threads at once.
final class PluginProcess {
    /// How a process ended.
    enum Exit: Equatable {
        case status(Int32)
        case signal(Int32)
        /// Other code in this process took the status.
        case unknown
    }

    /// Becomes readable when the process has ended.
    let descriptor: Int32
    /// The reading end of the pipe for its standard output and standard error; -1 once that is closed.
    private(set) var output: Int32
    /// The process id.
    let number: pid_t
    /// How it ended; nil while it may be running.
    private(set) var exit: Exit?
    /// The last lines of its output.
    private(set) var tail = ErrorTail()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - noun: its name in messages, such as `plug-in x`.
    ///   - path: the program's path.
    ///   - arguments: its arguments, without its name.
    ///   - socket: the child's end of the connection, of which it gets a copy.
    ///   - title: its `argv[0]`; nil for the path.
    ///   - inheritsEnvironment: whether it gets the environment. The default is false.
    /// - Throws: ``InletError/Code/notFound``, ``InletError/Code/permissionDenied`` or
    ///   ``InletError/Code/resourceExhausted``.
    init(
        of noun: String, _ path: String, _ arguments: [String], socket: Int32, title: String? = nil,
        inheritsEnvironment: Bool = false
    ) throws(InletError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { throw Self.refusal(noun, "pipe2", errno) }
        defer { close(ends[1]) }
        // Numbers beyond those that the child gets, so that none is overwritten before it is copied.
        let copies = [socket, ends[1]].map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
        defer { for copy in copies where copy >= 0 { close(copy) } }
        guard copies.allSatisfy({ $0 >= 0 }) else {
            close(ends[0])
            throw Self.refusal(noun, "fcntl", errno)
        }
        let (status, child) = Self.spawn(
            path, [title ?? path] + arguments, socket: copies[0], output: copies[1],
            inheritsEnvironment: inheritsEnvironment)
        guard status == 0 else {
            close(ends[0])
            throw Self.failure(noun, path, status)
        }
        let process = inlet_process_descriptor(child)
        guard process >= 0 else {
            let number = errno
            _ = Glibc.kill(-child, SIGKILL)
            var ignored: Int32 = 0
            while unsafe waitpid(child, &ignored, 0) < 0, errno == EINTR {}
            close(ends[0])
            throw Self.refusal(noun, "pidfd_open", number)
        }
        (descriptor, output, number) = (process, ends[0], child)
    }

    deinit {
        if exit == nil, !end(within: .zero) { abandon() }
        close(descriptor)
        closeOutput()
    }

    /// Kills the process and the processes that it has started.
    func kill() {
        var code: Int32 = 0
        _ = inlet_process_signal(descriptor, SIGKILL)
        // The group's number stays the child's until the child has been waited for.
        guard exit == nil, unsafe inlet_process_ended(descriptor, 1, &code) >= 0 else { return }
        _ = Glibc.kill(-number, SIGKILL)
    }

    /// Waits for the process's end, and reads its output meanwhile.
    ///
    /// - Returns: whether it has ended.
    func waits(for limit: Duration) -> Bool {
        wait(until: .now + limit)
        return hasEnded
    }

    /// Waits for the process's end, and then kills it.
    ///
    /// - Parameter limit: the time within which it may end by itself.
    /// - Returns: whether it has ended.
    func end(within limit: Duration) -> Bool {
        guard exit == nil else { return true }
        if limit > .zero { wait(until: .now + limit) }
        // Also kills the processes that it has left behind, if it has ended by itself.
        kill()
        wait(until: .now + Self.deathLimit)
        collect()
        drainOutput()
        return exit != nil
    }

    /// How long a killed process may take to vanish: it may be inside a driver.
    private static let deathLimit = Duration.seconds(1)

    /// Waits until the process has ended, and reads its output meanwhile.
    private func wait(until deadline: MonotonicTime) {
        while !hasEnded {
            let left = deadline - .now
            guard left > .zero else { return }
            _ = Polling.wait([descriptor, output, -1, -1], for: left)
            drainOutput()
        }
    }

    /// Whether the process has ended, waited for or not.
    var hasEnded: Bool {
        var code: Int32 = 0
        return unsafe exit != nil || inlet_process_ended(descriptor, 1, &code) != 0
    }

    private func collect() {
        var code: Int32 = 0
        switch unsafe inlet_process_ended(descriptor, 0, &code) {
        case 1: exit = code < 0 ? .signal(0 &- code) : .status(code)
        case 0: break
        default: exit = .unknown
        }
    }

    /// Leaves waiting for a process that a driver holds to a thread, so that it does not remain a zombie.
    private func abandon() {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 10)
        guard copy >= 0 else { return }
        do throws(InletError) {
            try SystemThread.start(named: "inlet-reap") {
                _ = Polling.wait([copy, -1, -1, -1], for: .seconds(86_400))
                var code: Int32 = 0
                _ = unsafe inlet_process_ended(copy, 0, &code)
                close(copy)
            }
        } catch {
            close(copy)
        }
    }

    /// Reads the child's output so far, so that the child loses little of it.
    func drainOutput() {
        guard output >= 0 else { return }
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { block in
            // Bounded, so that a child that writes without end delays nothing.
            for _ in 0..<64 {
                let count = unsafe read(output, block.baseAddress, block.count)
                guard count > 0 else {
                    if count == 0 { closeOutput() }
                    return
                }
                unsafe tail.append(block.prefix(count))
            }
        }
    }

    private func closeOutput() {
        if output >= 0 { close(output) }
        output = -1
    }

    private static func spawn(
        _ path: String, _ words: [String], socket: Int32, output: Int32, inheritsEnvironment: Bool
    ) -> (status: Int32, child: pid_t) {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, socket, childSocket)
        unsafe inlet_spawn_close_from(&actions, childSocket + 1)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var environment = unsafe [UnsafeMutablePointer<CChar>?.none]
        var child: pid_t = 0
        let status =
            unsafe inheritsEnvironment
            ? posix_spawn(&child, path, &actions, &attributes, &arguments, inlet_environment())
            : posix_spawn(&child, path, &actions, &attributes, &arguments, &environment)
        return (status, child)
    }

    /// `INLET_CHILD_SOCKET`
    private static let childSocket: Int32 = 3

    private static func failure(_ noun: String, _ path: String, _ number: Int32) -> InletError {
        let (code, advice): (InletError.Code, String) =
            switch number {
            case ENOENT, ENOTDIR:
                (
                    .notFound,
                    "It is not there. Install it in the folder of the program that uses Inlet, or state its path."
                )
            case EACCES, EPERM: (.permissionDenied, "It may not be run: check its mode (chmod +x) and its owner.")
            case EAGAIN, ENOMEM: (.resourceExhausted, "The system allows no more processes or memory (ulimit -u).")
            default: (.inputOutput, "The system's error is \(SystemErrorText.of(number)).")
            }
        return InletError(
            code, "\(path), which runs the \(noun), cannot be started. \(advice)",
            context: .init(operation: "posix_spawn", nativeCode: number))
    }

    private static func refusal(_ noun: String, _ operation: String, _ number: Int32) -> InletError {
        InletError(
            .resourceExhausted,
            "The \(noun) cannot be started: \(SystemErrorText.of(number)). "
                + "Raise the limit of descriptors (ulimit -n) or stop some sources.",
            context: .init(operation: operation, nativeCode: number))
    }
}
