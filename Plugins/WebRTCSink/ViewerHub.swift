#if WebRTC
    import Dispatch
    import InletCore
    import InletRTC
    import InletSystem
    import Synchronization

    /// Says what is to be encoded for the viewers there are, and hands them the packets.
    ///
    /// Each viewer's pipeline has a queue and a thread of its own, so handing over never waits, and no thread a viewer
    /// is needed here. One that is too slow gets nothing up to the next key frame, which is asked for. Safe from any
    /// thread.
    final class ViewerHub: Sendable {
        /// What is known of a viewer's packets.
        struct Figures: Sendable {
            var encoding: EncodingID?
            var sent = 0
            var dropped = 0
        }

        /// What is to be done with a picture.
        struct Order: Sendable {
            var encoding: EncodingID
            var bitrate: Int
            var step: PictureLadder.Step
            var wantsKeyFrame: Bool
            /// Nobody is to be sent it now: all whose it is wait until what they were sent before is through.
            var isPaused: Bool
        }

        /// Left when every pipeline is closed.
        let closing = DispatchGroup()
        /// Whether pictures are wanted, or all viewers are on the source's own packets.
        let pictureRequest = PictureRequest()
        private let keyFrameInterval: Duration
        private let state: Mutex<State>
        private static let planInterval = Duration.milliseconds(200)
        /// From a key frame to one for those who have just come to an encoding.
        private static let joiningInterval = Duration.milliseconds(200)

        private struct State {
            var lanes: [ViewerLane] = []
            var planner: EncodingPlanner
            var planned: MonotonicTime?
            var throttles: [EncodingID: KeyFrameThrottle] = [:]
            var source: PassThroughGate.Stream?
            var isInterrupted = false

            /// The source's packets, where viewers can be on them now.
            var usableSource: PassThroughGate.Stream? { isInterrupted ? nil : source }
        }

        /// - Parameter maximum: the most bits a second of an encoding.
        init(keyFrameInterval: Duration, maximum: Int) {
            self.keyFrameInterval = keyFrameInterval
            let ladder = PictureLadder(size: ImageSize(width: 1280, height: 720), frameRate: nil, tiers: 1)
            state = Mutex(State(planner: EncodingPlanner(ladder: ladder, maximum: maximum)))
        }

        /// Whether a picture is worth its encoding.
        var isWatched: Bool { state.withLock { !$0.lanes.isEmpty } }

        /// Whether pictures must be upright, as somebody who looks does not turn them.
        var needsUpright: Bool { state.withLock { $0.lanes.contains { !$0.viewer.turns } } }

        /// A viewer is connected: it gets everything from the next key frame on, which is asked for.
        ///
        /// - Parameter profile: of H.264, the `profile-level-id` that was agreed on, by which it may decode the
        ///   source's own packets.
        func add(
            _ viewer: GStreamerViewer, named name: String, codec: VideoCodec, bitrate: Int, profile: String? = nil
        ) {
            state.withLock { state in
                guard !state.lanes.contains(where: { $0.name == name }) else { return }
                state.lanes.append(ViewerLane(name: name, viewer: viewer))
                state.planner.add(name, codec: codec, bitrate: bitrate, profile: profile)
                state.planned = nil
            }
        }

        func remove(_ name: String) {
            // Not let go of under the lock.
            _ = state.withLock { state -> ViewerLane? in
                guard let index = state.lanes.firstIndex(where: { $0.name == name }) else { return nil }
                state.planner.remove(name)
                state.planned = nil
                return state.lanes.remove(at: index)
            }
        }

        /// What a viewer shall be sent, what its path bears, and whether it is sent nothing for a while.
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

        /// A viewer could not decode what it got.
        func requestKeyFrame(for name: String) {
            state.withLock { state in
                guard let id = state.planner.encoding(of: name) else { return }
                state.throttles[id]?.request()
            }
        }

        // MARK: The source's own packets

        /// What a viewer must decode to get the source's packets as they are; nil where they cannot go to viewers.
        var sourceProfile: H264Profile? { state.withLock { $0.usableSource?.profile } }

        /// Says whether the source's packets can go to viewers as they are.
        func setSource(_ stream: PassThroughGate.Stream?) { changeSource { $0.source = stream } }

        /// Says whether the source is silent. What is shown instead of it is encoded.
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

        /// Looks who is to be on the source's packets, and says whether pictures are wanted for others. Called with
        /// each packet, as there may be no pictures.
        func lookAtSource(at time: MonotonicTime) {
            let isWanted = state.withLock { state in
                if state.planned.map({ time - $0 >= Self.planInterval }) ?? true { plan(&state, at: time) }
                return state.usableSource == nil || !state.lanes.allSatisfy(\.isOnSource)
            }
            pictureRequest.set(isWanted)
        }

        // MARK: The encoders' side

        /// What sizes and rates there are to choose from.
        func start(_ ladder: PictureLadder) {
            state.withLock { state in
                state.planner.ladder = ladder
                state.planned = nil
            }
        }

        /// What is to be encoded of a picture, besides the source's own packets: those first for which a key frame is
        /// due, since viewers change over to them.
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

        /// The packets of an encoding begin anew, with a key frame.
        func restart(_ id: EncodingID) {
            for lane in state.withLock({ $0.lanes }) { lane.restart(id) }
        }

        /// Hands a packet to the viewers that are on its encoding.
        ///
        /// - Parameters:
        ///   - parameterSets: what stands before a key frame, for those who just came.
        ///   - rotation: how far its picture is to be turned.
        func write(_ packet: EncodedPacket, of id: EncodingID, parameterSets: [UInt8], rotation: Rotation) {
            let lanes = state.withLock { state in
                if packet.isKey { state.throttles[id]?.noteKeyFrame(at: packet.captureTime) }
                return state.lanes
            }
            guard lanes.contains(where: { $0.follows(id) }) else { return }
            // The only copy: of key frames, once for all viewers.
            let data =
                packet.isKey && !parameterSets.isEmpty ? PacketData(parameterSets + packet.data.copied) : packet.data
            guard data.count > 0 else { return }
            let shared = SharedPacket(data, at: packet.captureTime, isKey: packet.isKey)
            var (asks, isUrgent) = (false, false)
            for lane in lanes {
                switch lane.offer(packet, of: id, rotation: rotation) {
                case .taken:
                    lane.viewer.turn(rotation, from: packet.captureTime)
                    lane.viewer.push(shared)
                case .wantsKeyFrame(let urgent): (asks, isUrgent) = (true, isUrgent || urgent)
                case .passed: break
                }
            }
            if asks { state.withLock { $0.throttles[id]?.request(after: isUrgent ? Self.joiningInterval : nil) } }
        }

        /// Waits for pipelines to close, for three seconds at most. Sessions are closed before.
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
#endif
