import InletCore
import InletRTC
import InletSystem
import Synchronization
import WebRTCEngine

/// Decides which packets one viewer gets. Safe from any thread.
final class ViewerLane: Sendable {
    let name: String
    let viewer: GStreamerPeer
    /// The viewer's format when it joined.
    let format: Int?
    private let sent = Atomic(0)
    private let dropped = Atomic(0)
    private let state = Mutex(State())
    /// The time until which a viewer that does not rotate pictures waits for upright ones: the sink requests them,
    /// but the application may have requested others.
    private let waitsForUpright = MonotonicTime.now + .seconds(2)

    private struct State {
        var wanted: EncodingID?
        var current: EncodingID?
        var isAwaitingKey = true
        /// Whether a key frame was requested and has not arrived since.
        var isAsked = false
        var lastTime: MonotonicTime?
        /// The time before which nothing is sent.
        var pausedUntil: MonotonicTime?
        /// The time until which packets of the camera, which the viewer must leave, are withheld: the packets of
        /// its new encoding must not be older than its last one. Nil until a key frame was too late for that.
        var withheldUntil: MonotonicTime?
    }

    /// The bit rate that allows one resent packet at a time, corresponding to the data sent in 150 milliseconds;
    /// and the number that is always allowed.
    private static let (bitsPerResent, leastResent) = (64_000, 4)

    /// The longest queue: a second at 60 pictures per second. More would be shown too late.
    private static let longestQueue = 60

    /// The longest time for which packets are withheld.
    private static let longestWithheld = Duration.seconds(1)

    enum Outcome {
        case taken, passed
        /// The viewer needs a key frame of the packet's encoding, and has room for it. `isUrgent`: it gets no
        /// pictures meanwhile.
        case wantsKeyFrame(isUrgent: Bool)
    }

    init(name: String, viewer: GStreamerPeer) {
        self.name = name
        self.viewer = viewer
        format = viewer.currentFormat
    }

    /// The counts of sent and dropped packets.
    var figures: (sent: Int, dropped: Int) {
        (sent.load(ordering: .relaxed), dropped.load(ordering: .relaxed))
    }

    /// Assigns another encoding. The viewer switches at its next key frame.
    ///
    /// - Returns: whether it differs from the current one.
    func want(_ id: EncodingID) -> Bool {
        state.withLock { state in
            guard id != state.wanted else { return false }
            (state.wanted, state.isAsked, state.withheldUntil) = (id, false, nil)
            return true
        }
    }

    /// Returns whether the viewer needs packets of this encoding.
    func follows(_ id: EncodingID) -> Bool { state.withLock { id == $0.wanted || id == $0.current } }

    /// The encoding that the viewer still gets and must leave.
    var leaving: EncodingID? { state.withLock { $0.current == $0.wanted ? nil : $0.current } }

    /// Whether the viewer gets the source's own packets and should keep them.
    var isOnSource: Bool {
        state.withLock { $0.wanted?.isSource == true && ($0.current == nil || $0.current == $0.wanted) }
    }

    /// Records the capacity of the viewer's path.
    ///
    /// - Parameter pausedUntil: the time before which pictures are not sent to the viewer. Lost packets of
    ///   pictures already sent would not arrive in time either.
    func set(bitrate: Int, pausedUntil: MonotonicTime?) {
        let begins = state.withLock { state in
            defer { state.pausedUntil = pausedUntil }
            return state.pausedUntil == nil && pausedUntil != nil
        }
        viewer.limitResending(to: max(Self.leastResent, bitrate / Self.bitsPerResent), forgets: begins)
    }

    /// Returns whether pictures with this time are withheld from the viewer.
    func isPaused(at time: MonotonicTime) -> Bool {
        state.withLock { state in state.pausedUntil.map { time < $0 } ?? false }
    }

    /// Records that the packets of an encoding restart.
    func restart(_ id: EncodingID) { state.withLock { if id == $0.current { $0.isAwaitingKey = true } } }

    /// Decides about a packet of an encoding, and counts it.
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
            // A camera is not asked for key frames, so leaving out one of its packets would cost a whole group of
            // pictures.
            if let end = state.pausedUntil, packet.captureTime < end, !id.isSource || changesOver {
                guard !changesOver else { return .passed }
                state.isAwaitingKey = true
                dropped.add(1, ordering: .relaxed)
                return .passed
            }
            let queued = viewer.queued
            // Two encodings of the same picture have the same time.
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
            // A camera's packet arrives long before its picture is decoded and encoded again, so the next key
            // frame would be late as well. Once for each switch: if an encoder is even later, the viewer stays on
            // the camera.
            var isUrgent = false
            if changesOver, packet.isKey, !isNew, state.withheldUntil == nil, state.current?.isSource == true,
                let last = state.lastTime
            {
                state.withheldUntil = last + Self.longestWithheld
                isUrgent = true
            }
            // Requested once there is room, and once for each key frame that did not fit.
            guard id == state.wanted, !state.isAsked, queued <= Self.longestQueue / 2 else { return .passed }
            state.isAsked = true
            return .wantsKeyFrame(isUrgent: isUrgent)
        }
    }
}
