#if WebRTC
    import InletCore
    import InletRTC
    import InletSystem
    import Synchronization

    /// One viewer as those see it who have packets: which of them are for it. Safe from any thread.
    final class ViewerLane: Sendable {
        let name: String
        let viewer: GStreamerViewer
        private let sent = Atomic(0)
        private let dropped = Atomic(0)
        private let state = Mutex(State())
        /// Up to then one that does not turn pictures waits for upright ones: the sink asks for them, but the
        /// application may have asked for others.
        private let waitsForUpright = MonotonicTime.now + .seconds(2)

        private struct State {
            var wanted: EncodingID?
            var current: EncodingID?
            var isAwaitingKey = true
            /// A key frame was asked for, and has not come since.
            var isAsked = false
            var lastTime: MonotonicTime?
            /// Nothing is sent before.
            var pausedUntil: MonotonicTime?
            /// The camera's packets, which it shall leave, are withheld up to then: what it shall change over to must
            /// not be older than what it has. Nil before a key frame came too late for that.
            var withheldUntil: MonotonicTime?
        }

        /// For so many bits a second a packet may be sent again at once, which is what it is sent in 150 milliseconds;
        /// and so many in any case.
        private static let (bitsPerResent, leastResent) = (64_000, 4)

        /// A second at 60 pictures a second: more would be shown too late.
        private static let longestQueue = 60

        /// For how long packets are withheld at most.
        private static let longestWithheld = Duration.seconds(1)

        enum Outcome {
            case taken, passed
            /// It needs a key frame of the packet's encoding, and has room for it. `isUrgent`: it gets no pictures
            /// meanwhile.
            case wantsKeyFrame(isUrgent: Bool)
        }

        init(name: String, viewer: GStreamerViewer) {
            self.name = name
            self.viewer = viewer
        }

        /// What became of its packets.
        var figures: (sent: Int, dropped: Int) {
            (sent.load(ordering: .relaxed), dropped.load(ordering: .relaxed))
        }

        /// Has it be on another encoding. It changes over at that one's next key frame.
        ///
        /// - Returns: whether it is another.
        func want(_ id: EncodingID) -> Bool {
            state.withLock { state in
                guard id != state.wanted else { return false }
                (state.wanted, state.isAsked, state.withheldUntil) = (id, false, nil)
                return true
            }
        }

        /// Whether it needs what this encoding makes.
        func follows(_ id: EncodingID) -> Bool { state.withLock { id == $0.wanted || id == $0.current } }

        /// The encoding that it still gets and shall leave.
        var leaving: EncodingID? { state.withLock { $0.current == $0.wanted ? nil : $0.current } }

        /// Whether it is on the source's own packets, and shall be.
        var isOnSource: Bool {
            state.withLock { $0.wanted?.isSource == true && ($0.current == nil || $0.current == $0.wanted) }
        }

        /// Takes note of what its path bears.
        ///
        /// - Parameter pausedUntil: pictures before are not for it. What it lacks of those that it was sent would not
        ///   reach it in time either.
        func set(bitrate: Int, pausedUntil: MonotonicTime?) {
            let begins = state.withLock { state in
                defer { state.pausedUntil = pausedUntil }
                return state.pausedUntil == nil && pausedUntil != nil
            }
            viewer.limitResending(to: max(Self.leastResent, bitrate / Self.bitsPerResent), forgets: begins)
        }

        /// Whether pictures of a time are not for it.
        func isPaused(at time: MonotonicTime) -> Bool {
            state.withLock { state in state.pausedUntil.map { time < $0 } ?? false }
        }

        /// The packets of its encodings begin anew.
        func restart(_ id: EncodingID) { state.withLock { if id == $0.current { $0.isAwaitingKey = true } } }

        /// Decides on a packet of an encoding, and counts it.
        func offer(_ packet: EncodedPacket, of id: EncodingID, rotation: Rotation) -> Outcome {
            state.withLock { state in
                let changesOver = id == state.wanted && id != state.current
                guard changesOver || id == state.current else { return .passed }
                if packet.isKey, id == state.wanted { state.isAsked = false }
                if let end = state.withheldUntil, id != state.wanted, packet.captureTime < end {
                    state.isAwaitingKey = true
                    dropped.add(1, ordering: .relaxed)
                    return .passed
                }
                // A camera is not asked for a key frame, so what is left out of its own packets would cost a whole
                // group.
                if let end = state.pausedUntil, packet.captureTime < end, !id.isSource || changesOver {
                    guard !changesOver else { return .passed }
                    state.isAwaitingKey = true
                    dropped.add(1, ordering: .relaxed)
                    return .passed
                }
                let queued = viewer.queued
                // Two encodings of one picture would have one time.
                let isNew = state.lastTime.map { packet.captureTime > $0 } ?? true
                let isDecodable = packet.isKey || !(changesOver || state.isAwaitingKey)
                let isUpright = rotation == .none || viewer.turns || packet.captureTime > waitsForUpright
                if isDecodable, isUpright, isNew, queued < Self.longestQueue {
                    (state.current, state.isAwaitingKey, state.lastTime) = (id, false, packet.captureTime)
                    if changesOver { state.withheldUntil = nil }
                    sent.add(1, ordering: .relaxed)
                    return .taken
                }
                if !changesOver || state.current == nil {
                    state.isAwaitingKey = true
                    dropped.add(1, ordering: .relaxed)
                }
                // A camera's packet is here long before its picture is decoded and encoded anew: the next key frame
                // would be late as well. Once for each change: where an encoder is later than that, it stays on the
                // camera.
                var isUrgent = false
                if changesOver, packet.isKey, !isNew, state.withheldUntil == nil, state.current?.isSource == true,
                    let last = state.lastTime
                {
                    state.withheldUntil = last + Self.longestWithheld
                    isUrgent = true
                }
                // Asked for once there is room, and once for each that did not fit.
                guard id == state.wanted, !state.isAsked, queued <= Self.longestQueue / 2 else { return .passed }
                state.isAsked = true
                return .wantsKeyFrame(isUrgent: isUrgent)
            }
        }
    }
#endif
