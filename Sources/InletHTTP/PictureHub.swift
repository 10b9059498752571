package import InletCore
package import NIOCore
import Synchronization

/// A client that wants pictures. Called on the server's thread only.
package protocol PictureViewer: AnyObject {
    /// Whether the client wants a stream of pictures.
    var isStream: Bool { get }
    /// Shows a picture.
    ///
    /// - Returns: whether the client wants more.
    func show(_ jpeg: ByteBuffer) -> Bool
    /// Called when no picture will come any more. The client is no longer a viewer.
    func end()
}

// Unsafe: has state that only its event loop uses, and copies an encoded picture.
/// Passes pictures from a sink's thread to clients, on the server's one thread, and reports how many there are. It may
/// outlive the sink, and go on with another one.
///
/// `@unchecked Sendable`: `viewers` and `sessions` are accessed on `loop` alone, which `add` and `remove` check.
package final class PictureHub: @unchecked Sendable {
    private let loop: any EventLoop
    private let context: Mutex<SinkContext?>
    private var viewers: [any PictureViewer] = []
    private var sessions = SinkSessions()
    private let count = Atomic(0)
    /// Whether a picture is on its way to the server's thread: no second one follows it if that thread is slow.
    private let isPublishing = Atomic(false)

    /// - Parameter context: the context of the sink from which pictures come; nil as long as there is none.
    package init(_ loop: any EventLoop, context: SinkContext?) {
        self.loop = loop
        self.context = Mutex(context)
        context?.report(sessions)
    }

    /// Tells the sink from which pictures come from now on how many viewers there are. Safe from any thread.
    package func report(to context: SinkContext) {
        self.context.withLock { $0 = context }
        loop.execute { context.report(self.sessions) }
    }

    /// Whether a picture has any viewers. Safe from any thread.
    package var isWatched: Bool {
        count.load(ordering: .relaxed) > 0 && !isPublishing.load(ordering: .relaxed)
    }

    /// Copies a picture once and passes it to all viewers. Called on the sink's thread.
    package func publish(_ jpeg: RawSpan) {
        guard !isPublishing.exchange(true, ordering: .relaxed) else { return }
        var buffer = ByteBufferAllocator().buffer(capacity: jpeg.byteCount)
        _ = unsafe jpeg.withUnsafeBytes { unsafe buffer.writeBytes($0) }
        loop.execute { [buffer] in
            self.isPublishing.store(false, ordering: .relaxed)
            // Viewers that leave meanwhile ignore the picture.
            for viewer in self.viewers where !viewer.show(buffer) { self.remove(viewer) }
        }
    }

    /// The number of viewers that want a stream.
    package var streams: Int {
        loop.preconditionInEventLoop()
        return viewers.count(where: \.isStream)
    }

    package func add(_ viewer: any PictureViewer) {
        loop.preconditionInEventLoop()
        viewers.append(viewer)
        sessions.opened &+= 1
        countViewers()
    }

    package func remove(_ viewer: any PictureViewer) {
        loop.preconditionInEventLoop()
        viewers.removeAll { $0 === viewer }
        countViewers()
    }

    /// Ends all viewers: no picture will come any more. Safe from any thread.
    package func end() {
        loop.execute {
            let ended = self.viewers
            self.viewers = []
            self.countViewers()
            for viewer in ended { viewer.end() }
        }
    }

    private func countViewers() {
        count.store(viewers.count, ordering: .relaxed)
        sessions.open = viewers.count
        context.withLock { $0 }?.report(sessions)
    }
}
