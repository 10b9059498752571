import CLinux
import Glibc
package import InletCore
package import InletOutput
package import InletSystem

// Unsafe: starts a program and owns its pipes.
/// Owns a program that reads its standard input from this process.
///
/// The child gets a pipe as its standard input, this process's standard output or a pipe, a pipe for its standard
/// error, and no other descriptor. It runs in its own process group, so that Ctrl-C does not end it before it got the
/// last frame, and with default signal handling. Must not be used from two threads at once.
@safe package final class ChildProcess {
    /// How a program ended.
    package enum Exit: Equatable {
        case status(Int32)
        case signal(Int32)
        /// Other code in this process collected the exit status.
        case unknown
    }

    /// The reason why bytes could not be written.
    package enum WriteFailure: Error {
        /// The child has closed its input, or ended.
        case closed
        case timedOut
        case system(Int32)
    }

    private var input: Int32
    private var standardError: Int32
    /// The reading end of the pipe for the standard output; -1 without one.
    private var standardOutput: Int32
    private let longestOutput: Int
    private let processID: pid_t
    package private(set) var exit: Exit?
    /// The last lines of the standard error.
    package private(set) var tail = ErrorTail()
    /// The standard output so far, if it is kept; nil if it was too long.
    package private(set) var output: [UInt8]? = []

    /// Starts a program found through `PATH`.
    ///
    /// - Parameters:
    ///   - arguments: the program, then its arguments; not empty.
    ///   - longestOutput: the maximum number of bytes of its standard output, which is kept. If the program writes
    ///     more, its output is closed. The default, nil, gives it this process's standard output.
    /// - Throws: an error made of the `errno`.
    package init(_ arguments: [String], keepingOutputUpTo longestOutput: Int? = nil) throws(InletError) {
        var pipes: [(reading: Int32, writing: Int32)] = []
        do throws(InletError) {
            for _ in 0..<(longestOutput == nil ? 2 : 3) { pipes.append(try Self.pipe()) }
        } catch {
            for pipe in pipes {
                close(pipe.reading)
                close(pipe.writing)
            }
            throw error
        }
        let (input, standardError, standardOutput) = (pipes[0], pipes[1], pipes.count > 2 ? pipes[2] : nil)
        let (status, child) = Self.spawn(
            arguments, input: input.reading, output: standardOutput?.writing, standardError: standardError.writing)
        close(input.reading)
        close(standardError.writing)
        if let standardOutput { close(standardOutput.writing) }
        (self.input, self.standardError, processID) = (input.writing, standardError.reading, child)
        (self.standardOutput, self.longestOutput) = (standardOutput?.reading ?? -1, longestOutput ?? 0)
        guard status == 0 else {
            exit = .unknown
            throw InletError(spawning: arguments.first ?? "", errno: status)
        }
        for descriptor in [self.input, self.standardError, self.standardOutput] where descriptor >= 0 {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
        // F_SETPIPE_SZ: the largest size that an ordinary user gets, for fewer writes per picture. If it is
        // rejected, the pipe keeps its 64 kB.
        _ = fcntl(self.input, 1031, 1 << 20)
    }

    deinit {
        closeInput()
        if exit == nil {
            kill(-processID, SIGKILL)
            _ = wait(for: .seconds(1))
        }
        if standardError >= 0 { close(standardError) }
        closeOutput()
    }

    /// Writes all pieces.
    ///
    /// - Throws: a failure if the child does not read them within `limit`.
    package func write(_ pieces: inout OutputPieces, within limit: Duration) throws(WriteFailure) {
        drainStandardError()
        let deadline = ContinuousClock.now + limit
        while !pieces.isEmpty {
            let (count, error) = SignalGuard.run { pieces.write(to: input) }
            if count > 0 {
                pieces.drop(count)
            } else if error == EAGAIN {
                poll(until: deadline, forInput: true)
                drainStandardError()
                // Checked in every round, because data on standard error also ends the wait.
                guard ContinuousClock.now < deadline else { throw .timedOut }
            } else if error == EPIPE {
                throw .closed
            } else if error != EINTR {
                throw .system(error)
            }
        }
    }

    /// Closes the child's input, which signals the end of the data.
    package func closeInput() {
        guard input >= 0 else { return }
        close(input)
        input = -1
    }

    /// Sends a signal to the child and the processes that it has started.
    package func send(_ signal: Int32) {
        // Not after the exit status was collected: the process ID may already belong to another process.
        if exit == nil { kill(-processID, signal) }
    }

    /// Waits until the child has ended, or for `limit`, and reads its standard error and the kept output meanwhile.
    package func wait(for limit: Duration) -> Exit? {
        let deadline = ContinuousClock.now + limit
        while exit == nil {
            drainStandardError()
            drainOutput()
            var status: Int32 = 0
            let result = unsafe waitpid(processID, &status, WNOHANG)
            if result == processID {
                let signal = status & 0x7f
                exit = signal == 0 ? .status(status >> 8 & 0xff) : .signal(signal)
            } else if result < 0, errno != EINTR {
                exit = .unknown
            } else if ContinuousClock.now >= deadline {
                return nil
            } else {
                // The child's end closes the pipe, unless its own children hold it.
                poll(until: min(deadline, .now + .milliseconds(10)), forInput: false)
            }
        }
        drainStandardError()
        drainOutput()
        return exit
    }

    /// Waits for data from the child, or for room in the input, until the deadline at most.
    private func poll(until deadline: ContinuousClock.Instant, forInput: Bool) {
        let left = max(0, ContinuousClock.now.duration(to: deadline).wholeNanoseconds)
        let milliseconds = Int32(clamping: left / 1_000_000 + 1)
        unsafe withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 3) { requests in
            unsafe requests.initializeElement(at: 0, to: pollfd(fd: standardError, events: Int16(POLLIN), revents: 0))
            // The system ignores negative descriptors.
            unsafe requests.initializeElement(
                at: 1, to: pollfd(fd: forInput ? input : -1, events: Int16(POLLOUT), revents: 0))
            unsafe requests.initializeElement(at: 2, to: pollfd(fd: standardOutput, events: Int16(POLLIN), revents: 0))
            _ = unsafe Glibc.poll(requests.baseAddress, 3, milliseconds)
        }
    }

    /// Reads the child's standard error so far, so that the child never blocks on writing it.
    private func drainStandardError() {
        guard standardError >= 0 else { return }
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { block in
            // Bounded, so that a child that writes errors endlessly does not delay frames.
            for _ in 0..<64 {
                let count = unsafe read(standardError, block.baseAddress, block.count)
                guard count > 0 else {
                    if count == 0 {
                        close(standardError)
                        standardError = -1
                    }
                    return
                }
                unsafe tail.append(block.prefix(count))
            }
        }
    }

    /// Reads the kept output so far, and closes it once it is too long.
    private func drainOutput() {
        guard standardOutput >= 0 else { return }
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { block in
            while let kept = output?.count {
                let count = unsafe read(standardOutput, block.baseAddress, block.count)
                if count < 0 { return }
                guard count > 0, kept + count <= longestOutput else {
                    if count > 0 { output = nil }
                    break
                }
                unsafe output?.append(contentsOf: block.prefix(count))
            }
            closeOutput()
        }
    }

    private func closeOutput() {
        if standardOutput >= 0 { close(standardOutput) }
        standardOutput = -1
    }

    private static func pipe() throws(InletError) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        let result = unsafe pipe2(&ends, O_CLOEXEC)
        guard result == 0 else { throw InletError(errno: errno, operation: "pipe", path: "to a program") }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ arguments: [String], input: Int32, output: Int32?, standardError: Int32
    ) -> (status: Int32, child: pid_t) {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        unsafe posix_spawn_file_actions_adddup2(&actions, standardError, STDERR_FILENO)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        // Descriptors that other code opened without O_CLOEXEC are not inherited either.
        unsafe inlet_spawn_close_from(&actions, 3)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let environment = unsafe inlet_environment()
        let status = unsafe posix_spawnp(&child, arguments.first ?? "", &actions, &attributes, &words, environment)
        return (status, child)
    }
}

extension InletError {
    /// Creates the error for a program that could not be started, with advice.
    init(spawning program: String, errno number: Int32) {
        let (code, advice): (Code, String) =
            switch number {
            case ENOENT, ENOTDIR:
                (
                    .notFound,
                    "The program was not found\(program.contains(byte: "/") ? "" : " on PATH"). "
                        + "Check the spelling, install it, or give its full path."
                )
            case EACCES, EPERM: (.permissionDenied, "Permission denied. Check its mode (chmod +x) and its owner.")
            case ENOEXEC:
                (
                    .invalidConfiguration,
                    "It is not a program for this system. A script must begin with a line such as #!/bin/sh."
                )
            case E2BIG: (.invalidConfiguration, "Its arguments are too long.")
            case EAGAIN, ENOMEM: (.resourceExhausted, "The system allows no more processes or memory (ulimit -u).")
            default: (.inputOutput, "The system's error is \(number).")
            }
        self.init(
            code, "Cannot start \(program). \(advice)", context: Context(operation: "posix_spawnp", nativeCode: number))
    }
}
