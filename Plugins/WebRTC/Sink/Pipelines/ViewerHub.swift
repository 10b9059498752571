import Dispatch
import InletCore
import InletRTC
import InletSystem
import Synchronization
import WebRTCEngine

/// Decides what to encode for the current viewers, and distributes the packets to them.
///
/// Each viewer's pipeline has its own queue and thread, so distribution never blocks, and needs no thread per
/// viewer here. A viewer that is too slow gets nothing until the next key frame, which is requested. Safe from any
/// thread.
final class ViewerHub: Sendable {
    /// The counts of a viewer's packets.
    struct Figures: Sendable {
        var encoding: EncodingID?
        var sent = 0
        var dropped = 0

        /// Returns the encoding of a later lane with the sums of the counts.
        func adding(_ later: Figures) -> Figures {
            Figures(encoding: later.encoding, sent: sent + later.sent, dropped: dropped + later.dropped)
        }
    }

    /// The encoding order for a picture.
    struct Order: Sendable {
        var encoding: EncodingID
        var bitrate: Int
        var step: PictureLadder.Step
        var wantsKeyFrame: Bool
        /// Whether the picture must be withheld from all viewers, because they wait until earlier packets have
        /// arrived.
        var isPaused: Bool
    }

    /// Counts the sessions.
    let ledger = SessionLedger()
    /// Chooses one of several STUN servers.
    let stunChoice = STUNChoice()
    /// Left when every pipeline is closed.
    let closing = DispatchGroup()
    /// Whether pictures are wanted, which they are not if all viewers get the source's own packets.
    let pictureRequest = PictureRequest()
    private let keyFrameInterval: Duration
    private let state: Mutex<State>
    private static let planInterval = Duration.milliseconds(200)
    /// The interval between key frames for viewers that have just joined an encoding.
    private static let joiningInterval = Duration.milliseconds(200)

    private struct State {
        var lanes: [ViewerLane] = []
        var planner: EncodingPlanner
        var planned: MonotonicTime?
        var throttles: [EncodingID: KeyFrameThrottle] = [:]
        var source: PassThroughGate.Stream?
        var isInterrupted = false

        /// The source's packets, if viewers can receive them now.
        var usableSource: PassThroughGate.Stream? { isInterrupted ? nil : source }
    }

    /// - Parameter maximum: the highest bit rate of an encoding, in bits per second.
    init(keyFrameInterval: Duration, maximum: Int) {
        self.keyFrameInterval = keyFrameInterval
        let ladder = PictureLadder(size: ImageSize(width: 1280, height: 720), frameRate: nil, tiers: 1)
        state = Mutex(State(planner: EncodingPlanner(ladder: ladder, maximum: maximum)))
    }

    /// Whether a picture has any viewers.
    var isWatched: Bool { state.withLock { !$0.lanes.isEmpty } }

    /// Whether pictures must be upright, because some viewer does not rotate them.
    var needsUpright: Bool { state.withLock { $0.lanes.contains { !$0.viewer.turns } } }

    /// Adds a connected viewer. It gets all packets from the next key frame on, which is requested.
    ///
    /// - Parameter profile: for H.264, the negotiated `profile-level-id`, which determines whether the viewer may
    ///   decode the source's own packets.
    func add(
        _ viewer: GStreamerPeer, named name: String, codec: VideoCodec, bitrate: Int, profile: String? = nil
    ) {
        state.withLock { state in
            guard !state.lanes.contains(where: { $0.name == name }) else { return }
            state.lanes.append(ViewerLane(name: name, viewer: viewer))
            state.planner.add(name, codec: codec, bitrate: bitrate, profile: profile)
            state.planned = nil
        }
    }

    /// Removes a viewer.
    ///
    /// - Returns: the viewer's final counts; nil if no viewer has that name.
    @discardableResult
    func remove(_ name: String) -> Figures? {
        // Must not be released under the lock.
        let removed = state.withLock { state -> (lane: ViewerLane, encoding: EncodingID?)? in
            guard let index = state.lanes.firstIndex(where: { $0.name == name }) else { return nil }
            let encoding = state.planner.encoding(of: name)
            state.planner.remove(name)
            state.planned = nil
            return (state.lanes.remove(at: index), encoding)
        }
        guard let removed else { return nil }
        let (sent, dropped) = removed.lane.figures
        return Figures(encoding: removed.encoding, sent: sent, dropped: dropped)
    }

    /// Sets a viewer's bit rate, the capacity of its path, and the time before which nothing is sent to it.
    func set(bitrate: Int, sustained: Int, pausedUntil: MonotonicTime?, of name: String) {
        state.withLock { state in
            state.lanes.first { $0.name == name }?.set(bitrate: bitrate, pausedUntil: pausedUntil)
            state.planner.set(bitrate: bitrate, sustained: sustained, of: name)
            state.planned = nil
        }
    }

    func figures(of name: String) -> Figures? {
        state.withLock { state in
            guard let lane = state.lanes.first(where: { $0.name == name }) else { return nil }
            let (sent, dropped) = lane.figures
            return Figures(encoding: state.planner.encoding(of: name), sent: sent, dropped: dropped)
        }
    }

    /// Requests a key frame for a viewer that could not decode its packets.
    func requestKeyFrame(for name: String) {
        state.withLock { state in
            guard let id = state.planner.encoding(of: name) else { return }
            state.throttles[id]?.request()
        }
    }

    /// Requests a key frame for all viewers.
    func requestKeyFrames() {
        state.withLock { state in
            for lane in state.lanes {
                guard let id = state.planner.encoding(of: lane.name) else { continue }
                state.throttles[id]?.request()
            }
        }
    }

    // MARK: The source's own packets

    /// The profile that a viewer must support to get the source's packets unchanged; nil if they cannot be sent to
    /// viewers.
    var sourceProfile: H264Profile? { state.withLock { $0.usableSource?.profile } }

    /// Sets the source's packet stream; nil if it cannot be sent to viewers unchanged.
    func setSource(_ stream: PassThroughGate.Stream?) { changeSource { $0.source = stream } }

    /// Sets whether the source is silent. The pictures shown instead are encoded.
    func setInterrupted(_ isInterrupted: Bool) { changeSource { $0.isInterrupted = isInterrupted } }

    private func changeSource(_ body: (inout State) -> Void) {
        let needsPictures = state.withLock { state in
            body(&state)
            state.planner.source = state.usableSource.map { ($0.profile, $0.bitrate) }
            state.planned = nil
            return state.usableSource == nil
        }
        if needsPictures { pictureRequest.set(true) }
    }

    /// Checks which viewers should get the source's packets, and whether others want pictures. Called with each
    /// packet, because there may be no pictures.
    func lookAtSource(at time: MonotonicTime) {
        let isWanted = state.withLock { state in
            if state.planned.map({ time - $0 >= Self.planInterval }) ?? true { plan(&state, at: time) }
            return state.usableSource == nil || !state.lanes.allSatisfy(\.isOnSource)
        }
        pictureRequest.set(isWanted)
    }

    // MARK: The encoders' side

    /// Sets the available sizes and rates.
    func start(_ ladder: PictureLadder) {
        state.withLock { state in
            state.planner.ladder = ladder
            state.planned = nil
        }
    }

    /// Returns the encodings for a picture, except the source's own packets. Encodings for which a key frame is
    /// due come first, because viewers switch to them.
    func orders(at time: MonotonicTime) -> [Order] {
        state.withLock { state in
            guard !state.lanes.isEmpty else {
                state.throttles = [:]
                return []
            }
            if state.planned.map({ time - $0 >= Self.planInterval }) ?? true { plan(&state, at: time) }
            let orders = state.planner.orders.compactMap { id, order -> Order? in
                guard !id.isSource else { return nil }
                let throttle = state.throttles[id] ?? KeyFrameThrottle(interval: keyFrameInterval)
                return Order(
                    encoding: id, bitrate: order.bitrate, step: state.planner.ladder.steps[order.step],
                    wantsKeyFrame: throttle.isDue(at: time),
                    isPaused: state.lanes.allSatisfy { $0.isPaused(at: time) || !$0.follows(id) })
            }
            return orders.count < 2 ? orders : orders.sorted { $0.wantsKeyFrame && !$1.wantsKeyFrame }
        }
    }

    private func plan(_ state: inout State, at time: MonotonicTime) {
        state.planned = time
        state.planner.plan(at: time, keeping: Set(state.lanes.compactMap(\.leaving)))
        for lane in state.lanes {
            guard let id = state.planner.encoding(of: lane.name), lane.want(id) else { continue }
            state.throttles[id, default: KeyFrameThrottle(interval: keyFrameInterval)].request(
                after: Self.joiningInterval)
        }
    }

    /// Records that the packets of an encoding restart, with a key frame.
    func restart(_ id: EncodingID) {
        for lane in state.withLock({ $0.lanes }) { lane.restart(id) }
    }

    /// Distributes a packet to the viewers of its encoding.
    ///
    /// - Parameters:
    ///   - parameterSets: the bytes before a key frame, for viewers that have just joined.
    ///   - rotation: the rotation of the packet's picture.
    func write(_ packet: EncodedPacket, of id: EncodingID, parameterSets: [UInt8], rotation: Rotation) {
        let lanes = state.withLock { state in
            if packet.isKey { state.throttles[id]?.noteKeyFrame(at: packet.captureTime) }
            return state.lanes
        }
        guard lanes.contains(where: { $0.follows(id) }) else { return }
        // The only copy is that of key frames, once for all viewers.
        let data =
            packet.isKey && !parameterSets.isEmpty ? PacketData(parameterSets + packet.data.copied) : packet.data
        guard data.count > 0 else { return }
        let shared = SharedPacket(data, at: packet.captureTime, isKey: packet.isKey)
        var (asks, isUrgent) = (false, false)
        for lane in lanes {
            switch lane.offer(packet, of: id, rotation: rotation) {
            case .taken:
                lane.viewer.turn(rotation, from: packet.captureTime)
                lane.viewer.push(shared, of: lane.format)
            case .wantsKeyFrame(let urgent): (asks, isUrgent) = (true, isUrgent || urgent)
            case .passed: break
            }
        }
        if asks { state.withLock { $0.throttles[id]?.request(after: isUrgent ? Self.joiningInterval : nil) } }
    }

    /// Waits until pipelines are closed, for at most three seconds. Sessions must have been closed.
    func finish() throws {
        _ = state.withLock { state in
            defer { state.lanes = [] }
            return state.lanes
        }
        guard closing.wait(timeout: .now() + 3) == .success else {
            throw InletError(
                .timedOut, "Viewers' pipelines did not close within 3 seconds.", context: .init(operation: "finish")
            )
        }
    }
}

extension PacketData {
    fileprivate var copied: [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(count)
        let bytes = bytes
        for index in bytes.indices { copy.append(bytes[index]) }
        return copy
    }
}
