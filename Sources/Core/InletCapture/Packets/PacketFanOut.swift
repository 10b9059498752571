import Dispatch
public import InletCore
import Synchronization

/// Hands the packets of one encoder to any number of packet sinks, each on its own thread with a bounded queue.
///
///     let outputs = PacketFanOut()
///     outputs.attach(try FFmpegPacketSink(FFmpegOutput(.mp4, to: "out.mp4")), named: "file")
///     outputs.attach(try FFmpegPacketSink(FFmpegOutput(.rtmp, to: "rtmp://server/live/key")), named: "server")
///     capturer.attach(EncodingSink(FFmpegVideoEncoder(), EncoderSettings(), to: outputs))
///
/// A slow sink drops whole groups of pictures up to its next key frame and requests one; the other sinks and the
/// encoder are not affected. Packets are shared, not copied. Sinks may be added and removed while it runs: one added
/// later begins at the next key frame. Safe from any thread, except for the methods of ``PacketSink``, which the
/// encoder's thread calls.
public final class PacketFanOut: PacketSink, Sendable {
    /// The identifier of a packet sink.
    public struct ID: Sendable, Hashable {
        let number: Int
    }

    /// Figures about a sink's packets.
    public struct Figures: Sendable, Hashable {
        /// The sink's identifier.
        public var id: ID
        /// The sink's name.
        public var name: String
        /// Packets that the sink has taken.
        public var written: UInt64
        /// Packets that the sink was too slow for, or that arrived before its first key frame.
        public var dropped: UInt64
    }

    private let state: Mutex<State>
    private let finishTimeout: Duration
    private let clock: any CaptureClock
    private let endsWithLastSink: Bool
    private let onEnd: @Sendable (ID, String, InletError?) -> Void

    private struct State {
        var lanes: [PacketLane] = []
        var number = 0
        var parameters: CodecParameters?
        var throttle: KeyFrameThrottle
        var time = MonotonicTime(nanoseconds: 0)
        var hadLanes = false
        var failure: InletError?
        var isFinished = false
        var waiters: [DispatchSemaphore] = []
    }

    /// - Parameters:
    ///   - keyFrameInterval: the least time from a key frame to one that a sink requests. The default is half a second.
    ///   - endsWithLastSink: whether the encoder stops when no sink is left. The default is true; if false, packets are
    ///     discarded until another sink is attached.
    ///   - finishTimeout: how long ``finish()`` waits for sinks to write their queued packets. The default is 3
    ///     seconds.
    ///   - clock: measures `finishTimeout`. The default is the machine's clock.
    ///   - onEnd: called on the sink's thread when a sink has ended, with the error if it failed.
    public init(
        keyFrameInterval: Duration = .milliseconds(500), endsWithLastSink: Bool = true,
        finishTimeout: Duration = .seconds(3), clock: any CaptureClock = SystemClock(),
        onEnd: @escaping @Sendable (ID, String, InletError?) -> Void = { _, _, _ in }
    ) {
        state = Mutex(State(throttle: KeyFrameThrottle(interval: keyFrameInterval)))
        self.finishTimeout = finishTimeout
        self.clock = clock
        self.endsWithLastSink = endsWithLastSink
        self.onEnd = onEnd
    }

    /// Adds a sink.
    ///
    /// - Parameters:
    ///   - sink: owned by the fan-out from now on: every method is called on the sink's own thread.
    ///   - name: the name in statistics and the log.
    ///   - capacity: the most packets that may be queued for it. The default is 120.
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses a thread.
    @discardableResult
    public func attach(
        _ sink: sending any PacketSink, named name: String, capacity: Int = 120
    ) throws(InletError) -> ID {
        let id = state.withLock { state in
            state.number += 1
            return ID(number: state.number)
        }
        let lane = PacketLane(
            id: id, name: name, sink: sink, capacity: capacity,
            onKeyFrameRequest: { [weak self] in self?.requestKeyFrame() },
            onEnd: { [weak self] lane, error in self?.ended(lane, error) })
        try lane.begin()
        let isFinished = state.withLock { state in
            // Before any packet can arrive, so that none is without its parameters.
            if let parameters = state.parameters { lane.start(parameters, quietly: true) }
            state.lanes.append(lane)
            state.hadLanes = true
            // The failure of another sink was reported when it happened.
            state.failure = nil
            state.throttle.request()
            return state.isFinished
        }
        if isFinished { lane.finish() }
        return id
    }

    /// Removes a sink: packets queued for it are dropped, and it finishes on its own thread. Returns at once.
    public func detach(_ id: ID) {
        state.withLock { state in state.lanes.first { $0.id == id } }?.close()
    }

    /// Figures about the sinks that are attached.
    public var figures: [Figures] { state.withLock { $0.lanes }.map(\.figures) }

    /// Requests a key frame, as for a new viewer.
    public func requestKeyFrame() { state.withLock { $0.throttle.request() } }

    private func ended(_ lane: PacketLane, _ error: InletError?) {
        let waiters = state.withLock { state in
            state.lanes.removeAll { $0 === lane }
            state.failure = error ?? state.failure
            guard state.lanes.isEmpty else { return [DispatchSemaphore]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        onEnd(lane.id, lane.name, error)
        for waiter in waiters { waiter.signal() }
    }

    // MARK: The encoder's side

    /// Passes the parameters of the packets to every sink.
    public func start(_ parameters: CodecParameters) {
        let lanes = state.withLock { state in
            state.parameters = parameters
            return state.lanes
        }
        for lane in lanes { lane.start(parameters) }
    }

    /// Hands a packet to every sink. Never waits.
    ///
    /// - Throws: if every sink that was attached has ended: the error that the last one failed with, or
    ///   ``SinkStopped``.
    public func write(_ packet: EncodedPacket) throws {
        let (lanes, failure, hadLanes) = state.withLock { state in
            state.time = packet.captureTime
            if packet.isKey { state.throttle.noteKeyFrame(at: packet.captureTime) }
            return (state.lanes, state.failure, state.hadLanes)
        }
        if lanes.isEmpty, hadLanes, endsWithLastSink {
            if let failure { throw failure }
            throw SinkStopped()
        }
        for lane in lanes { lane.put(packet) }
    }

    /// Whether a sink needs a key frame, and enough time has passed since the last.
    public var wantsKeyFrame: Bool { state.withLock { $0.throttle.isDue(at: $0.time) } }

    /// Lets every sink write the packets queued for it, and waits until they have.
    ///
    /// - Throws: the error that a sink failed with; ``InletError/Code/timedOut``, naming the sinks that had not
    ///   finished in time.
    public func finish() throws {
        let waiter = DispatchSemaphore(value: 0)
        let lanes = state.withLock { state in
            state.isFinished = true
            if state.lanes.isEmpty { waiter.signal() } else { state.waiters.append(waiter) }
            return state.lanes
        }
        for lane in lanes { lane.finish() }
        let timer = clock.makeTimer(on: DispatchQueue(label: "inlet.fan-out-deadline")) { waiter.signal() }
        timer.set(for: clock.now + finishTimeout)
        defer { timer.cancel() }
        waiter.wait()
        let late = state.withLock { $0.lanes }
        if !late.isEmpty {
            let names = late.map(\.name).joined(separator: ", ")
            throw InletError(
                .timedOut, "\(names) did not take the remaining packets within \(finishTimeout).",
                context: .init(operation: "finish"))
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}
