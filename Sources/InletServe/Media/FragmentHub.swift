import InletCore
import NIOCore

/// A client of a stream of fragments. Called on the server's thread only.
protocol FragmentViewer: AnyObject {
    /// Takes a piece of the stream.
    func take(_ piece: FragmentQueue.Piece)
    /// Called when no piece will come any more. The client is no longer a viewer.
    ///
    /// - Parameter error: why it failed; nil if it ended as the camera's packets have other parameters now.
    func endFragments(_ error: InletError?)
}

/// Makes fragmented MP4 of a camera's packets, once for all clients, and only while there are any. Confined to the
/// server's thread; the fragments are made on a thread of their own.
final class FragmentHub {
    private let loop: any EventLoop
    private let media: CameraMedia
    private let makeSink: SinkMaker
    private let onIdle: (FragmentHub) -> Void
    private var viewers: [any FragmentViewer] = []
    private var job: PacketJob?
    private var beginning: FragmentQueue.Piece?
    /// The fragments from the last key frame on, with which a client begins.
    private var group: [FragmentQueue.Piece] = []
    private var groupBytes = 0

    /// Makes what turns packets into pieces, each of which it hands to its parameter. Called on a thread of its own.
    typealias SinkMaker = @Sendable (@escaping (FragmentQueue.Piece) -> Void) -> any PacketSink

    /// - Parameters:
    ///   - makeSink: makes the fragments. The default is ``FragmentSink``.
    ///   - onIdle: called whenever there is no client any more.
    init(
        _ media: CameraMedia, loop: any EventLoop, makeSink: @escaping SinkMaker = { FragmentSink(publish: $0) },
        onIdle: @escaping (FragmentHub) -> Void
    ) {
        (self.media, self.loop, self.makeSink, self.onIdle) = (media, loop, makeSink, onIdle)
    }

    /// Adds a client, which begins at the last key frame.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses a thread; ``InletError/Code/notFound`` if
    ///   the camera was removed.
    func add(_ viewer: any FragmentViewer) throws(InletError) {
        loop.preconditionInEventLoop()
        do throws(InletError) {
            if job == nil { try begin() }
        } catch {
            if viewers.isEmpty { onIdle(self) }
            throw error
        }
        viewers.append(viewer)
        guard let beginning else { return }
        viewer.take(beginning)
        for piece in group { viewer.take(piece) }
    }

    /// Removes a client.
    func remove(_ viewer: any FragmentViewer) {
        loop.preconditionInEventLoop()
        viewers.removeAll { $0 === viewer }
        guard viewers.isEmpty else { return }
        end()
        onIdle(self)
    }

    private func begin() throws(InletError) {
        var made: PacketJob?
        media.hub.attach(fromLastKeyFrame: true) { items in
            let job = PacketJob(items)
            made = job
            return job
        }
        guard let job = made else { throw Self.removed }
        self.job = job
        media.beginUse()
        let (loop, hub, makeSink) = (loop, NIOLoopBound(self, eventLoop: loop), makeSink)
        do throws(InletError) {
            try job.begin(
                named: "inlet-stream",
                makeSink: {
                    makeSink { piece in
                        loop.execute { hub.value.publish(piece, of: job) }
                    }
                },
                onEnd: { error in loop.execute { hub.value.ended(job, error) } })
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

    private func ended(_ job: PacketJob, _ error: InletError?) {
        guard self.job === job else { return }
        end()
        let ended = viewers
        viewers = []
        let reason = error ?? (media.hub.hasEnded ? Self.removed : nil)
        for viewer in ended { viewer.endFragments(reason) }
        // One that wants what follows is a viewer again.
        if viewers.isEmpty { onIdle(self) }
    }

    private static var removed: InletError { InletError(.notFound, "The camera was removed.") }

    private func publish(_ piece: FragmentQueue.Piece, of job: PacketJob) {
        guard self.job === job else { return }
        switch piece {
        case .beginning:
            // A later one serves clients that begin later.
            let isFirst = beginning == nil
            beginning = piece
            guard isFirst else { return }
        case .fragment(let bytes, let isKey, _):
            if isKey { (group, groupBytes) = ([], 0) }
            groupBytes += bytes.readableBytes
            // Clients that come later in a group that is too long begin at the next one.
            if groupBytes <= FragmentQueue.longest { group.append(piece) } else { group = [] }
        }
        for viewer in viewers { viewer.take(piece) }
    }
}
