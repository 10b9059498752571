import InletCore
import InletFFmpeg
import Synchronization

/// Keeps a camera's last packets, and passes new packets to any number of jobs: recordings and streams. It outlives the
/// captures of its camera. Safe from any thread; a capture calls the methods of ``PacketSink``.
final class PacketHub: PacketSink, Sendable {
    private let state: Mutex<State>

    private struct State {
        var history: PacketHistory
        var parameters: CodecParameters?
        /// Finds parameter changes in key frames that the source does not report.
        var follower: ParameterFollower?
        var jobs: [PacketJob] = []
        var lastDTS: Int64?
        var keyFrames = KeyFrameTimes()
        var hasEnded = false
    }

    init(_ limits: PacketHistory.Limits) { state = Mutex(State(history: PacketHistory(limits))) }

    /// The times of key frames. Pure.
    private struct KeyFrameTimes {
        private var last: MonotonicTime?
        private var intervals: [Duration] = []

        /// The time between key frames: the shorter of the last two intervals, because one may include an outage.
        var interval: Duration? { intervals.min() }

        mutating func add(_ time: MonotonicTime) {
            if let last, time > last { intervals = intervals.suffix(1) + [time - last] }
            last = time
        }
    }

    /// The time between the camera's last key frames; nil before the second key frame.
    var keyFrameInterval: Duration? { state.withLock { $0.keyFrames.interval } }

    /// Sets the limits of the history.
    func limit(to limits: PacketHistory.Limits) { state.withLock { $0.history.limits = limits } }

    func start(_ parameters: CodecParameters) {
        state.withLock { state in
            guard state.parameters != parameters, !state.hasEnded else { return }
            state.follower = ParameterFollower(parameters)
            Self.start(parameters, &state)
        }
    }

    private static func start(_ parameters: CodecParameters, _ state: inout State) {
        // Different parameter sets with the same picture size belong to one stream.
        if state.parameters.map({ !parameters.continues($0) }) ?? true { state.history.clear() }
        state.parameters = parameters
        for job in state.jobs { job.start(parameters) }
    }

    func write(_ packet: EncodedPacket) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            // A new capture has its own timeline. If its times continue the old ones by the machine's clock, the
            // history is kept; otherwise it is cleared.
            if let last = state.lastDTS, packet.dts.ticks <= last { state.history.clear() }
            state.lastDTS = packet.dts.ticks
            if packet.isKey { state.keyFrames.add(packet.captureTime) }
            if !packet.isKey {
                state.follower?.note(packet.data)
            } else if let changed = state.follower?.follow(packet.data) {
                Self.start(changed, &state)
            }
            state.history.add(packet, of: state.parameters)
            for job in state.jobs { job.put(packet) }
        }
    }

    /// Whether a recording or a stream waits for a key frame. The source is asked at most once a second, however many
    /// wait.
    var wantsKeyFrame: Bool { state.withLock { state in state.jobs.contains { $0.needsKeyFrame } } }

    /// Adds a job that begins with the history. No packet between the history and the live packets is missed or
    /// repeated. Does nothing after ``end()``.
    ///
    /// - Parameters:
    ///   - isFromLastKeyFrame: whether the job begins at the last key frame instead of the oldest one.
    ///   - make: makes the job from the items that it begins with. Called with a lock held, so it must not wait.
    func attach(fromLastKeyFrame isFromLastKeyFrame: Bool = false, _ make: ([PacketJob.Item]) -> PacketJob) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            var items: [PacketJob.Item] = []
            var parameters: CodecParameters?
            for group in isFromLastKeyFrame ? state.history.groups.suffix(1) : state.history.groups[...] {
                if let own = group.parameters, own != parameters { items.append(.start(own)) }
                parameters = group.parameters
                items += group.packets.map(PacketJob.Item.packet)
            }
            if let latest = state.parameters, latest != parameters { items.append(.start(latest)) }
            state.jobs.append(make(items))
        }
    }

    /// Removes a job. It receives no more packets.
    func detach(_ job: PacketJob) { state.withLock { $0.jobs.removeAll { $0 === job } } }

    /// Whether the camera was removed.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Ends all jobs after they have written their waiting packets, because the camera is removed. The history is
    /// cleared. Returns when the jobs have ended.
    func end() async {
        let jobs = state.withLock { state in
            state.hasEnded = true
            state.history.clear()
            defer { state.jobs = [] }
            return state.jobs
        }
        await withTaskGroup(of: Void.self) { group in
            for job in jobs { group.addTask { await job.end() } }
        }
    }
}
