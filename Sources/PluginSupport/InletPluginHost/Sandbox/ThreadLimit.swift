import CLinux
import CSeccomp
import Glibc
import InletCore
import InletPluginIPC
import InletSystem

// Unsafe: reads and writes structs of the kernel, and makes a process.
/// Bounds the threads of the process. The filter of system calls asks a second process, the guard, about each new
/// thread; the guard runs none of the plug-in's code.
///
/// No limit of the system does this: `RLIMIT_NPROC` counts all processes of the user and does not hold for root, and a
/// control group with a limit needs rights that most users do not have. Without its guard, the process can start no
/// thread. The guard ends with the process.
struct ThreadLimit {
    /// The most threads of the process: some libraries start one for each core.
    static let most = 256

    private let socket: MessageSocket

    /// Makes the guard. The process must have one thread.
    ///
    /// - Throws: ``PluginFailure`` if the system refuses a process.
    init() throws(PluginFailure) {
        let others: MessageSocket
        do throws(InletError) {
            (socket, others) = try MessageSocket.pair()
        } catch {
            throw Self.failure(error.context.nativeCode ?? EMFILE)
        }
        let child = inlet_fork()
        guard child >= 0 else { throw Self.failure(errno) }
        if child == 0 { withExtendedLifetime(others) { ThreadGuard.run(of: getppid(), socket: others.descriptor) } }
        // The guard opens a file of this process that cannot be opened later.
        var buffer = MessageBuffer()
        Descriptors.wait(for: [socket.descriptor], Int16(POLLIN), until: MonotonicTime.now.nanoseconds + Self.patience)
        do throws(MessageSocket.ReceiveFailure) {
            try socket.receive(into: &buffer)
        } catch {
            throw Self.failure(ETIME)
        }
    }

    /// Hands the descriptor over by which the kernel asks.
    ///
    /// - Throws: ``PluginFailure`` if the guard is gone, or the system refuses to send a descriptor.
    func watch(_ listener: Int32) throws(PluginFailure) {
        do throws(MessageSocket.SendFailure) {
            try socket.send(UInt8(0), descriptor: listener)
        } catch {
            let advice =
                switch error.number {
                case EPIPE: "The process that counts the threads has ended. Try again."
                case ETOOMANYREFS: "This user has too many descriptors in flight. Raise the limit (ulimit -n)."
                default: Sandbox.advice(.seccomp)
                }
            throw Sandbox.failure("the limit of threads", error.number, advice)
        }
    }

    /// The time that the guard may take to start.
    private static let patience: Int64 = 10_000_000_000

    private static func failure(_ number: Int32) -> PluginFailure {
        Sandbox.failure(
            "the limit of threads", number, "Another process must be allowed. " + Sandbox.advice(.seccomp))
    }
}

/// The work of the second process.
private enum ThreadGuard {
    /// Answers the kernel until the process that is watched has ended.
    ///
    /// - Parameters:
    ///   - process: the number of that process.
    ///   - socket: the connection to it.
    static func run(of process: pid_t, socket: Int32) -> Never {
        _ = inlet_end_with_parent()
        // An open connection to Inlet would keep it from seeing the plug-in's end.
        guard dup2(socket, 0) == 0, inlet_close_from(1) == 0 else { _exit(1) }
        let status = unsafe open("/proc/\(process)/status", O_RDONLY | O_CLOEXEC)
        var byte: UInt8 = 0
        var listener: Int32 = -1
        guard status >= 0, unsafe inlet_send_message(0, &byte, 1, -1, 0) == 1,
            unsafe inlet_receive_message(0, &byte, 1, &listener, 0) == 1, listener >= 0
        else { _exit(1) }
        close(0)
        while true {
            var watched = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            let count = unsafe poll(&watched, 1, -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0, watched.revents & Int16(POLLIN) != 0 else { _exit(0) }
            let before = threads(status)
            answer(listener, mayStart: before < ThreadLimit.most)
            if before < ThreadLimit.most { waitForChange(of: status, from: before) }
        }
    }

    /// Waits until a thread that was allowed is counted, or for at most five milliseconds: it may have failed to start,
    /// or another one may have ended. Threads that ask together would exceed the limit otherwise. The file is read
    /// again and again, because the kernel has no event for a thread that starts.
    private static func waitForChange(of status: Int32, from before: Int) {
        for _ in 0..<50 {
            guard threads(status) == before else { return }
            usleep(100)
        }
    }

    private static func answer(_ listener: Int32, mayStart: Bool) {
        var request: UnsafeMutablePointer<seccomp_notif>?
        var response: UnsafeMutablePointer<seccomp_notif_resp>?
        guard unsafe seccomp_notify_alloc(&request, &response) == 0 else { _exit(1) }
        defer { unsafe seccomp_notify_free(request, response) }
        // A thread may have been killed while it waited.
        guard let request = unsafe request, let response = unsafe response,
            unsafe seccomp_notify_receive(listener, request) == 0
        else { return }
        unsafe response.pointee.id = request.pointee.id
        if mayStart {
            unsafe response.pointee.flags = inlet_seccomp_continue()
        } else {
            unsafe response.pointee.error = -EAGAIN
        }
        _ = unsafe seccomp_notify_respond(listener, response)
    }

    /// The number of threads by the file `status` of a process (proc_pid_status(5)); the most if that cannot be read.
    private static func threads(_ file: Int32) -> Int {
        var text = [UInt8](repeating: 0, count: 4096)
        let count = unsafe pread(file, &text, text.count, 0)
        guard count > 0 else { return .max }
        for line in text[..<count].split(separator: 0x0A) where line.starts(with: "Threads:".utf8) {
            return TextBytes.number(TextBytes.trimmed(line.dropFirst("Threads:".utf8.count)), upTo: .max) ?? .max
        }
        return .max
    }
}
