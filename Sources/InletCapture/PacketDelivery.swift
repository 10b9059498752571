import Dispatch
import InletCore
import Synchronization

/// Delivers the source's packets to one packet sink, on a thread of its own.
///
/// A live source never waits for it: what the sink is too slow for is dropped up to the next key frame. A source that is not live waits.
final class PacketDelivery: FrameReceiver {
    let id: SinkID
    let name: String
    let wants = SinkWants()
    let counters = SinkCounters()
    let ended = Completion<Void>()
    let takesPackets = true

    private let configuration: any PacketSinkConfiguration
    private let context: DeliveryContext
    /// Four seconds of most cameras.
    private static let capacity = 120
    /// How long what waits may take when there is no more time: less than ``CapturerConfiguration/stopTimeout``.
    private static let patience = DispatchTimeInterval.seconds(2)
    private let state: Mutex<State>
    private let wantsRoom = Atomic(false)

    private struct State {
        var lane: PacketLane?
        var schedule: RestartSchedule?
        var failure: InletError?
        var parameters: CodecParameters?
        var room: ProducerGate?
        var waits = false
        var isOver = false
        var isReported = false
        var wasDropped: UInt64 = 0
    }

    init(
        id: SinkID, _ configuration: any PacketSinkConfiguration, onFailure: SinkFailurePolicy,
        context: DeliveryContext
    ) {
        self.id = id
        name = configuration.redactedURI
        self.configuration = configuration
        self.context = context
        var state = State()
        if case .restart(let delay) = onFailure { state.schedule = RestartSchedule(delay) }
        self.state = Mutex(state)
    }

    func begin(_ format: SourceFormat?, room: ProducerGate) {
        guard let format else { return }
        guard format.hasPackets else {
            end(
                InletError(
                    .unsupported, "The source has no packets to hand on as they are. Leave out codec=copy.",
                    context: .init(subject: name)))
            return
        }
        state.withLock { state in
            state.room = room
            state.waits = format.pacing != .live
        }
    }

    /// Pictures are not for it.
    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool) {}

    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool) {
        guard let lane = lane(for: packet, parameters) else {
            if !state.withLock({ $0.isOver }) { counters.countDrop(.sinkFailed) }
            return
        }
        waitForRoom(in: lane, isCancelled: isCancelled)
        lane.put(packet)
        let dropped = lane.figures.dropped
        let (before, isLane) = state.withLock { state in
            defer { state.wasDropped = dropped }
            return (state.wasDropped, state.lane === lane)
        }
        if isLane, dropped > before { counters.countDrop(.queueFull, Int(clamping: dropped - before)) }
    }

    func losePacket(_ reason: DropReason) {
        counters.countDrop(reason)
        state.withLock { $0.lane }?.lose()
    }

    private func waitForRoom(in lane: PacketLane, isCancelled: () -> Bool) {
        guard let room = state.withLock({ $0.waits ? $0.room : nil }) else { return }
        while !isCancelled() {
            wantsRoom.store(true, ordering: .sequentiallyConsistent)
            if lane.hasRoom { break }
            room.wait()
        }
        wantsRoom.store(false, ordering: .relaxed)
    }

    /// The lane, begun or made anew where it is time; nil where there is none.
    private func lane(for packet: EncodedPacket, _ parameters: CodecParameters) -> PacketLane? {
        let (lane, isNew) = state.withLock { state -> (PacketLane?, Bool) in
            defer { state.parameters = parameters }
            if let lane = state.lane { return (lane, state.parameters != parameters) }
            guard !state.isOver else { return (nil, false) }
            if state.failure != nil {
                guard packet.isKey, state.schedule?.restart(at: context.clock.now) == true else { return (nil, false) }
                state.failure = nil
            }
            state.wasDropped = 0
            let lane = makeLane()
            state.lane = lane
            return (lane, true)
        }
        guard let lane else { return nil }
        if isNew {
            do throws(InletError) {
                try lane.begin()
            } catch {
                end(error.about(name))
                return nil
            }
            lane.start(parameters)
        }
        return lane
    }

    private func makeLane() -> PacketLane {
        PacketLane(
            id: PacketFanOut.ID(number: id.number), name: name, sink: configuration.makePacketSink(),
            capacity: Self.capacity, onWish: {}, onTaken: { [weak self] in self?.signalRoom() },
            onWritten: { [weak self] in self?.noteWritten() },
            onEnd: { [weak self] lane, error in self?.laneEnded(lane, error) }
        )
    }

    private func signalRoom() {
        guard wantsRoom.exchange(false, ordering: .sequentiallyConsistent) else { return }
        state.withLock { $0.room }?.signal()
    }

    private func noteWritten() {
        counters.delivered.wrappingAdd(1, ordering: .relaxed)
        let now = context.clock.now
        state.withLock { $0.schedule?.deliver(at: now) }
    }

    private func laneEnded(_ lane: PacketLane, _ error: InletError?) {
        let now = context.clock.now
        let dropped = lane.figures.dropped
        let before = state.withLock { state in
            state.lane = nil
            return state.wasDropped
        }
        if dropped > before { counters.countDrop(.sinkFailed, Int(clamping: dropped - before)) }
        let next = state.withLock { state -> (attempt: Int, delay: Duration)? in
            guard let error, !state.isOver, !RetryPolicy.isPermanent(error), let next = state.schedule?.fail(at: now)
            else { return nil }
            state.failure = error
            return next
        }
        guard let next, let error else {
            end(error)
            return
        }
        context.report(self, .restarting(error, attempt: next.attempt, delay: next.delay))
    }

    func finish(_ error: InletError?) {
        let (lane, failure) = state.withLock { state in
            state.isOver = true
            return (state.lane, state.failure)
        }
        if let lane { lane.finish() } else { end(failure) }
    }

    func close() {
        let (lane, failure) = state.withLock { state in
            state.isOver = true
            return (state.lane, state.failure)
        }
        guard let lane else { return end(failure) }
        // Each packet is part of a whole, and a file is whole with those that wait; but a server may take as long as it likes for each.
        lane.finish()
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { lane.close() }
    }

    private func end(_ error: InletError?) {
        let isFirst = state.withLock { state in
            state.isOver = true
            defer { state.isReported = true }
            return !state.isReported
        }
        guard isFirst else { return }
        counters.isAttached.store(false, ordering: .relaxed)
        context.report(self, .ended(error))
        ended.resolve(())
    }
}
