import InletCore
import NIOCore

/// A client of a stream of fragments. Called on the server's thread only.
protocol FragmentViewer: AnyObject {
    /// Takes a piece of the stream.
    func take(_ piece: FragmentQueue.Piece)
    /// Called when no piece will come any more. The client is no longer a viewer.
    func endFragments()
}

/// Makes fragmented MP4 of a camera's packets, once for all clients, and only while there are any. Confined to the
/// server's thread; the fragments are made on a thread of their own.
final class FragmentHub {
    private let loop: any EventLoop
    private let media: CameraMedia
    private var viewers: [any FragmentViewer] = []
    private var job: PacketJob?
    private var beginning: FragmentQueue.Piece?
    /// The fragments from the last key frame on, with which a client begins.
    private var group: [FragmentQueue.Piece] = []
    private var groupBytes = 0

    init(_ media: CameraMedia, loop: any EventLoop) { (self.media, self.loop) = (media, loop) }

    /// Whether it has clients.
    var isWatched: Bool { !viewers.isEmpty }

    /// Adds a client, which begins at the last key frame.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses a thread; ``InletError/Code/notFound`` if
    ///   the camera was removed.
    func add(_ viewer: any FragmentViewer) throws(InletError) {
        loop.preconditionInEventLoop()
        if job == nil { try begin() }
        viewers.append(viewer)
        guard let beginning else { return }
        viewer.take(beginning)
        for piece in group { viewer.take(piece) }
    }

    /// Removes a client.
    func remove(_ viewer: any FragmentViewer) {
        loop.preconditionInEventLoop()
        viewers.removeAll { $0 === viewer }
        if viewers.isEmpty { end() }
    }

    private func begin() throws(InletError) {
        var made: PacketJob?
        media.hub.attach(fromLastKeyFrame: true) { items in
            let job = PacketJob(items)
            made = job
            return job
        }
        guard let job = made else { throw InletError(.notFound, "The camera was removed.") }
        self.job = job
        media.beginUse()
        let (loop, hub) = (loop, NIOLoopBound(self, eventLoop: loop))
        do throws(InletError) {
            try job.begin(
                named: "inlet-stream",
                makeSink: {
                    FragmentSink { piece in
                        loop.execute { hub.value.publish(piece, of: job) }
                    }
                },
                onEnd: { _ in loop.execute { hub.value.ended(job) } })
        } catch {
            end()
            throw error
        }
    }

    /// Ends the making of fragments.
    private func end() {
        guard let job else { return }
        self.job = nil
        (beginning, group, groupBytes) = (nil, [], 0)
        media.hub.detach(job)
        job.finish()
        media.endUse()
    }

    private func ended(_ job: PacketJob) {
        guard self.job === job else { return }
        end()
        let ended = viewers
        viewers = []
        for viewer in ended { viewer.endFragments() }
    }

    private func publish(_ piece: FragmentQueue.Piece, of job: PacketJob) {
        guard self.job === job else { return }
        switch piece {
        case .beginning: beginning = piece
        case .fragment(let bytes, let isKey, _):
            if isKey { (group, groupBytes) = ([], 0) }
            groupBytes += bytes.readableBytes
            // Clients that come later in a group that is too long begin at the next one.
            if groupBytes <= FragmentQueue.longest { group.append(piece) } else { group = [] }
        }
        for viewer in viewers { viewer.take(piece) }
    }
}
