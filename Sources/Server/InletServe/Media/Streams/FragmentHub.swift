import InletCore
import NIOCore

/// A client of a stream of fragments. Called on the server's thread only.
protocol FragmentViewer: AnyObject {
    /// Receives a piece of the stream.
    func take(_ piece: FragmentQueue.Piece)
    /// Called when no further piece will come. The client is no longer a viewer.
    ///
    /// - Parameter error: the error if the stream failed; nil if it ended because the camera's packets have new
    ///   parameters.
    func endFragments(_ error: InletError?)
}

/// Makes fragmented MP4 from a camera's packets, once for all clients, and only while there are clients. Confined to
/// the server's thread; the fragments are made on a separate thread.
final class FragmentHub {
    private let loop: any EventLoop
    private let media: CameraMedia
    private let makeSink: SinkMaker
    private let onIdle: (FragmentHub) -> Void
    private var viewers: [any FragmentViewer] = []
    private var job: PacketJob?
    private var beginning: FragmentQueue.Piece?
    /// The fragments since the last key frame, with which a new client begins.
    private var group: [FragmentQueue.Piece] = []
    private var groupBytes = 0

    /// Makes the sink that turns packets into pieces and passes each to the given function. Called on a separate
    /// thread.
    typealias SinkMaker = @Sendable (@escaping (FragmentQueue.Piece) -> Void) -> any PacketSink

    /// - Parameters:
    ///   - makeSink: makes the sink for the fragments. The default is ``FragmentSink``.
    ///   - onIdle: called whenever the last client has left.
    init(
        _ media: CameraMedia, loop: any EventLoop, makeSink: @escaping SinkMaker = { FragmentSink(publish: $0) },
        onIdle: @escaping (FragmentHub) -> Void
    ) {
        (self.media, self.loop, self.makeSink, self.onIdle) = (media, loop, makeSink, onIdle)
    }

    /// Adds a client. Its stream begins at the last key frame.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system cannot create a thread;
    ///   ``InletError/Code/notFound`` if the camera was removed.
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

    /// Stops making fragments.
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
        // A client that wants the following stream has added itself again.
        if viewers.isEmpty { onIdle(self) }
    }

    private static var removed: InletError { InletError(.notFound, "The camera was removed.") }

    private func publish(_ piece: FragmentQueue.Piece, of job: PacketJob) {
        guard self.job === job else { return }
        switch piece {
        case .beginning:
            // A further initialization section is only for clients that begin later.
            let isFirst = beginning == nil
            beginning = piece
            guard isFirst else { return }
        case .fragment(let bytes, let isKey, _):
            if isKey { (group, groupBytes) = ([], 0) }
            groupBytes += bytes.readableBytes
            // If a group is too long, clients that come later begin at the next one.
            if groupBytes <= FragmentQueue.longest { group.append(piece) } else { group = [] }
        }
        for viewer in viewers { viewer.take(piece) }
    }
}
