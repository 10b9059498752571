import Glibc

/// The network namespace of another process (network_namespaces(7)).
public struct NetworkNamespace: Sendable {
    private let path: String

    /// The process could not enter the namespace.
    public struct Failure: Error {
        /// The error number of the system.
        public let number: Int32
    }

    /// - Parameter process: the identifier of a process in the namespace.
    public init(of process: Int) { path = "/proc/\(process)/ns/net" }

    /// Whether this process may create and enter namespaces.
    public static let isAvailable = (try? ReferenceCommand.run("unshare", ["--net", "ip", "link"])) != nil

    /// Calls `body` on this thread in the namespace: its new sockets and threads are in the namespace.
    ///
    /// - Throws: ``Failure``, or the error of `body`.
    public func run<Value>(_ body: () throws -> Value) throws -> Value {
        let own = try Self.descriptor("/proc/thread-self/ns/net")
        defer { close(own) }
        let other = try Self.descriptor(path)
        defer { close(other) }
        guard Self.enter(other) == 0 else { throw Failure(number: errno) }
        // The thread is reused for other work afterwards.
        defer { precondition(Self.enter(own) == 0) }
        return try body()
    }

    private static func descriptor(_ path: String) throws -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        return descriptor
    }

    /// setns(2) for a network namespace; Swift's Glibc module doesn't include it.
    private static func enter(_ descriptor: Int32) -> Int32 {
        typealias Function = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = unsafe dlsym(nil, "setns") else { return -1 }
        // CLONE_NEWNET of <sched.h>.
        return unsafe unsafeBitCast(symbol, to: Function.self)(descriptor, 0x4000_0000)
    }
}
