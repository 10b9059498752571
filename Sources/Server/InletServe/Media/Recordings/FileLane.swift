import Dispatch
import InletCapture
import InletCore
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Threads for blocking operations on the files of one disk or folder. Safe from any thread.
///
/// The server's thread and the threads of tasks never wait for a disk. A lane whose disk hangs does not delay other
/// lanes.
final class FileLane: Sendable {
    /// The number of threads.
    private static let threadCount = 2
    private let pool: NIOThreadPool

    fileprivate init() {
        pool = NIOThreadPool(numberOfThreads: Self.threadCount)
        pool.start()
    }

    /// Ends the threads when they have finished their operations. Does not wait.
    fileprivate func stop() { pool.shutdownGracefully(queue: .global()) { _ in } }

    /// Runs a blocking operation. Returns when it is done or the task is cancelled. After a cancellation, an operation
    /// that has begun continues, and one that is still waiting does not begin.
    ///
    /// - Parameter body: the operation. Its parameter is a function that returns whether the task was cancelled.
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

    /// Releases an object whose release may wait for the disk, such as the owner of a descriptor.
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

/// The lanes of a daemon: one for each root folder of recordings. Safe from any thread.
package final class FileLanes: Sendable {
    private let lanes = Mutex<[String: FileLane]>([:])
    private let stores = Mutex<[String: WeakStore]>([:])

    private struct WeakStore {
        weak var store: RecordingStore?
    }

    package init() {}

    deinit { stop() }

    /// The lane on which files of secrets are read.
    var secrets: FileLane { lane(of: "") }

    /// Returns whether making a configuration from a URI reads files that its options name.
    static func mayWait(for uri: String) -> Bool {
        uri.firstRange(ofBytes: "-file=") != nil || uri.firstRange(ofBytes: "tls-ca=") != nil
    }

    /// Returns the lane of a folder. The first call starts its threads.
    func lane(of folder: String) -> FileLane {
        lanes.withLock { lanes in
            if let lane = lanes[folder] { return lane }
            let lane = FileLane()
            lanes[folder] = lane
            return lane
        }
    }

    /// Returns the recordings in a folder. As long as a recording is being written to the folder, every caller gets the
    /// same object, which therefore knows of that recording.
    func store(of folder: RecordingFolder, logger: Logger) -> RecordingStore {
        stores.withLock { stores in
            if let store = stores[folder.path]?.store { return store }
            stores = stores.filter { $0.value.store != nil }
            let store = RecordingStore(folder, lane: lane(of: folder.root), logger: logger)
            stores[folder.path] = WeakStore(store: store)
            return store
        }
    }

    /// Ends all threads when they have finished their operations. Does not wait.
    func stop() {
        let ended = lanes.withLock { lanes in
            defer { lanes = [:] }
            return lanes
        }
        for lane in ended.values { lane.stop() }
    }
}
