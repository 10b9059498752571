import Dispatch
import InletCore
import Synchronization

/// Hands the source's packets, on a separate thread, to a sink that takes pictures as well.
final class PacketTap: Sendable {
    private let lane: PacketLane
    private let request: PictureRequest
    private let state = Mutex(State())
    private let ended: DispatchSemaphore
    /// Two seconds of packets from most cameras.
    private static let capacity = 60

    private struct State {
        var parameters: CodecParameters?
        var hasBegun = false
        var isOver = false
    }

    /// - Parameters:
    ///   - onChange: called when the sink starts or stops wanting pictures.
    ///   - onKeyFrameRequest: called when the sink needs a key frame.
    init(
        _ passThrough: PassThrough, id: SinkID, name: String, onChange: @escaping @Sendable () -> Void,
        onKeyFrameRequest: @escaping @Sendable () -> Void
    ) {
        let (request, ended) = (passThrough.pictureRequest, DispatchSemaphore(value: 0))
        (self.request, self.ended) = (request, ended)
        request.observe(onChange)
        lane = PacketLane(
            id: PacketFanOut.ID(number: id.number), name: name, sink: passThrough.sink,
            capacity: Self.capacity, onKeyFrameRequest: onKeyFrameRequest,
            onEnd: { _, _ in
                request.set(true)
                ended.signal()
            })
    }

    /// Whether pictures are wanted as well.
    var wantsPictures: Bool { request.isWanted }

    func offer(_ packet: EncodedPacket, of parameters: CodecParameters) {
        let (isOver, begins, isNew) = state.withLock { state in
            defer { (state.hasBegun, state.parameters) = (true, parameters) }
            return (state.isOver, !state.hasBegun, state.parameters != parameters)
        }
        guard !isOver else { return }
        if begins {
            do throws(InletError) {
                try lane.begin()
            } catch {
                // The sink gets pictures instead.
                state.withLock { $0.isOver = true }
                return request.set(true)
            }
        }
        if isNew { lane.start(parameters, quietly: packet.isKey) }
        lane.put(packet)
    }

    /// Records that a packet was withheld from the sink.
    func lose() { lane.lose() }

    /// Gives the sink no more packets. Waits for the one being written, for at most a second.
    func close() {
        let waits = state.withLock { state in
            defer { state.isOver = true }
            return state.hasBegun && !state.isOver
        }
        request.observe(nil)
        lane.close()
        if waits { _ = ended.wait(timeout: .now() + 1) }
    }
}
