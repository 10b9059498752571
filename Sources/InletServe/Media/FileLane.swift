import Dispatch
import InletCapture
import InletCore
import NIOCore
import NIOPosix
import Synchronization

/// Threads for blocking operations on the files of one disk or folder. Safe from any thread.
///
/// Neither the server's thread nor the threads of tasks ever wait for a disk, and a lane whose disk hangs delays no
/// other lane.
final class FileLane: Sendable {
    /// The number of threads.
    private static let threadCount = 2
    private let pool: NIOThreadPool

    fileprivate init() {
        pool = NIOThreadPool(numberOfThreads: Self.threadCount)
        pool.start()
    }

    /// Ends the threads when they have done what they do. Does not wait.
    fileprivate func stop() { pool.shutdownGracefully(queue: .global()) { _ in } }

    /// Runs a blocking operation. Returns when it is done or the task is cancelled. An operation that has begun goes on
    /// then, and one that waits is not begun.
    ///
    /// - Parameter body: the operation. Its parameter returns whether the task was cancelled.
    /// - Throws: the error of the operation; ``InletError/Code/cancelled``.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws(InletError) -> Value
    ) async throws(InletError) -> Value {
        let (flag, done) = (Flag(), Completion<Result<Value, InletError>>())
        let cancelled = Result<Value, InletError>.failure(
            InletError(.cancelled, "The operation on files was cancelled."))
        pool.submit { state in
            guard case .active = state, !flag.isSet else { return done.resolve(cancelled) }
            done.resolve(Result { () throws(InletError) in try body { flag.isSet } })
        }
        let result = await withTaskCancellationHandler {
            await done.value()
        } onCancel: {
            flag.set()
            done.resolve(cancelled)
        }
        return try result.get()
    }

    /// Runs a blocking operation for a caller on an event loop.
    func run<Value: Sendable>(
        for loop: any EventLoop, _ body: @escaping @Sendable () -> Value
    ) -> EventLoopFuture<Value> {
        pool.runIfActive(eventLoop: loop, body)
    }

    /// Releases an object, such as the owner of a descriptor, whose release may wait for the disk.
    func release(_ object: consuming any AnyObject & Sendable) {
        let object = object
        pool.submit { _ in withExtendedLifetime(object) {} }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isSet: Bool { value.load(ordering: .relaxed) }

        func set() { value.store(true, ordering: .relaxed) }
    }
}

/// The lanes of a daemon, one for each root folder of recordings. Safe from any thread.
package final class FileLanes: Sendable {
    private let lanes = Mutex<[String: FileLane]>([:])

    package init() {}

    deinit { stop() }

    /// The lane on which files with secrets are read.
    var secrets: FileLane { lane(of: "") }

    /// Returns whether the options of a URI name files that are read when a configuration is made of them.
    static func mayWait(for uri: String) -> Bool {
        uri.firstRange(ofBytes: "-file=") != nil || uri.firstRange(ofBytes: "tls-ca=") != nil
    }

    /// Returns the lane of a folder. Its threads start with the first call.
    func lane(of folder: String) -> FileLane {
        lanes.withLock { lanes in
            if let lane = lanes[folder] { return lane }
            let lane = FileLane()
            lanes[folder] = lane
            return lane
        }
    }

    /// Ends all threads when they have done what they do. Does not wait.
    func stop() {
        let ended = lanes.withLock { lanes in
            defer { lanes = [:] }
            return lanes
        }
        for lane in ended.values { lane.stop() }
    }
}
