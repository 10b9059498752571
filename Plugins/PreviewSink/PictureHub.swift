import InletCore
import NIOCore
import Synchronization

/// A client that wants pictures. Called on the server's thread only.
protocol PictureViewer: AnyObject {
    /// Whether the client wants a stream of pictures.
    var isStream: Bool { get }
    /// Shows a picture.
    ///
    /// - Returns: whether the client wants more.
    func show(_ jpeg: ByteBuffer) -> Bool
}

/// Passes pictures from the sink's thread to clients, on the server's one thread, and reports how many there are.
///
/// `@unchecked Sendable`: `viewers` and `sessions` are accessed on `loop` alone, which `add` and `remove` check.
final class PictureHub: @unchecked Sendable {
    private let loop: any EventLoop
    private let context: SinkContext
    private var viewers: [any PictureViewer] = []
    private var sessions = SinkSessions()
    private let count = Atomic(0)
    /// Whether a picture is on its way to the server's thread: no second one follows it if that thread is slow.
    private let isPublishing = Atomic(false)

    init(_ loop: any EventLoop, context: SinkContext) {
        self.loop = loop
        self.context = context
        context.report(sessions)
    }

    /// Whether a picture has any viewers. Safe from any thread.
    var isWatched: Bool { count.load(ordering: .relaxed) > 0 && !isPublishing.load(ordering: .relaxed) }

    /// Copies a picture once and passes it to all viewers. Called on the sink's thread.
    func publish(_ jpeg: RawSpan) {
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
    var streams: Int {
        loop.preconditionInEventLoop()
        return viewers.count(where: \.isStream)
    }

    func add(_ viewer: any PictureViewer) {
        loop.preconditionInEventLoop()
        viewers.append(viewer)
        sessions.opened &+= 1
        countViewers()
    }

    func remove(_ viewer: any PictureViewer) {
        loop.preconditionInEventLoop()
        viewers.removeAll { $0 === viewer }
        countViewers()
    }

    private func countViewers() {
        count.store(viewers.count, ordering: .relaxed)
        sessions.open = viewers.count
        context.report(sessions)
    }
}
