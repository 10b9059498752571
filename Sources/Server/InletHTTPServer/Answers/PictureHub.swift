package import InletCore
package import NIOCore
import Synchronization

/// A client that wants pictures. Called on the server's thread only.
package protocol PictureViewer: AnyObject {
    /// Whether the client wants a stream of pictures.
    var isStream: Bool { get }
    /// Shows a picture to the client.
    ///
    /// - Returns: whether the client wants further pictures.
    func show(_ jpeg: ByteBuffer) -> Bool
    /// Called when no further picture will come. The client is no longer a viewer.
    func end()
}

// Unsafe: has state that only its event loop uses, and copies an encoded picture.
/// Passes pictures from a sink's thread to clients on the server's only thread, and reports the number of viewers. It
/// may outlive the sink and continue with another one.
///
/// `@unchecked Sendable`: `viewers` and `sessions` are accessed only on `loop`, which `add` and `remove` check.
package final class PictureHub: @unchecked Sendable {
    private let loop: any EventLoop
    private let context: Mutex<SinkContext?>
    private var viewers: [any PictureViewer] = []
    private var sessions = SinkSessions()
    private let count = Atomic(0)
    /// Whether a picture is on its way to the server's thread. If that thread is slow, no second picture follows.
    private let isPublishing = Atomic(false)

    /// - Parameter context: the context of the sink that sends pictures; nil until there is a sink.
    package init(_ loop: any EventLoop, context: SinkContext?) {
        self.loop = loop
        self.context = Mutex(context)
        context?.report(sessions)
    }

    /// Reports the number of viewers to the sink that sends pictures from now on. Safe from any thread.
    package func report(to context: SinkContext) {
        self.context.withLock { $0 = context }
        loop.execute { context.report(self.sessions) }
    }

    /// Whether pictures have any viewers. Safe from any thread.
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
            // A viewer that leaves in the meantime ignores the picture.
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

    /// Ends all viewers: no further picture will come. Safe from any thread.
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
