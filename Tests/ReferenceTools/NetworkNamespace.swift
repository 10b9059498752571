#if os(Linux)
    import Glibc
#endif

/// The network namespace of another process (network_namespaces(7)).
public struct NetworkNamespace: Sendable {
    private let path: String

    /// The namespace cannot be entered.
    public struct Failure: Error {
        /// The system's reason.
        public let number: Int32
    }

    /// - Parameter process: the number of a process in it.
    public init(of process: Int) { path = "/proc/\(process)/ns/net" }

    /// Whether this process may make namespaces and enter them.
    public static let isAvailable = (try? ReferenceCommand.run("unshare", ["--net", "ip", "link"])) != nil

    /// Calls `body` on this thread in the namespace: sockets and threads that it makes belong there.
    ///
    /// - Throws: ``Failure``, or the error of `body`.
    public func run<Value>(_ body: () throws -> Value) throws -> Value {
        #if os(Linux)
            let own = try Self.descriptor("/proc/thread-self/ns/net")
            defer { close(own) }
            let other = try Self.descriptor(path)
            defer { close(other) }
            guard Self.enter(other) == 0 else { throw Failure(number: errno) }
            // The thread is used for other things afterwards.
            defer { precondition(Self.enter(own) == 0) }
            return try body()
        #else
            throw Failure(number: 0)
        #endif
    }

    #if os(Linux)
        private static func descriptor(_ path: String) throws -> Int32 {
            let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure(number: errno) }
            return descriptor
        }

        /// setns(2), which Swift's Glibc module leaves out, for a network namespace.
        private static func enter(_ descriptor: Int32) -> Int32 {
            typealias Function = @convention(c) (Int32, Int32) -> Int32
            guard let symbol = unsafe dlsym(nil, "setns") else { return -1 }
            // CLONE_NEWNET of <sched.h>.
            return unsafe unsafeBitCast(symbol, to: Function.self)(descriptor, 0x4000_0000)
        }
    #endif
}
