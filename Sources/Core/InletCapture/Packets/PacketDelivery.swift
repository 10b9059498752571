import InletCore
import Synchronization

/// Delivers the source's packets to one packet sink, on its own thread.
///
/// A live source never waits for it: packets that the sink is too slow for are dropped up to the next key frame. A
/// source that is not live waits.
final class PacketDelivery: PacketReceiver {
    let id: SinkID
    let name: String
    let counters = SinkCounters()
    let ended = Completion<Void>()
    let takesPackets = true

    private let configuration: any PacketSinkConfiguration
    private let context: DeliveryContext
    /// Four seconds of packets from most cameras.
    private static let capacity = 120
    /// The time that writing the queued packets may take after a stop: less than ``CapturerConfiguration/stopTimeout``.
    private static let gracePeriod = Duration.seconds(2)
    private let state: Mutex<State>
    private let wantsRoom = Atomic(false)

    private struct State {
        var phase = Phase.waiting(nil)
        var schedule: RestartSchedule?
        var parameters: CodecParameters?
        var room: ProducerGate?
        var waits = false
        /// Whether the source has ended, so that the sink has everything that there was.
        var isComplete = false
    }

    private enum Phase {
        /// There is no lane. The next packet makes one; if the last lane failed, a key frame after the restart delay
        /// does.
        case waiting(InletError?)
        case running(PacketLane)
        /// The lane writes the packets it holds and accepts no more. The error is reported instead of the lane's error.
        case finishing(PacketLane, InletError?)
        case ended
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
            finish(
                reporting: InletError(
                    .unsupported, "The source has no packets to pass on unchanged. Leave out codec=copy.",
                    context: .init(subject: name)))
            return
        }
        state.withLock { state in
            state.room = room
            state.waits = format.pacing != .live
        }
    }

    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool) {
        switch lane(for: packet, parameters) {
        case .success(let lane):
            waitForRoom(in: lane, isCancelled: isCancelled)
            lane.put(packet)
        case .failure(let refusal): counters.countDrop(refusal.reason)
        }
    }

    func losePacket(_ reason: DropReason) {
        counters.countDrop(reason)
        if case .running(let lane) = state.withLock({ $0.phase }) { lane.lose() }
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

    private struct Refusal: Error {
        var reason: DropReason
    }

    /// Returns the lane, started or recreated if it is time.
    private func lane(for packet: EncodedPacket, _ parameters: CodecParameters) -> Result<PacketLane, Refusal> {
        var awaitsKeyFrame = false
        let (lane, isNew, startsAnew) = state.withLock { state -> (Result<PacketLane, Refusal>, Bool, Bool) in
            defer { state.parameters = parameters }
            switch state.phase {
            case .running(let lane): return (.success(lane), false, state.parameters != parameters)
            case .finishing, .ended: return (.failure(Refusal(reason: .cancelled)), false, false)
            case .waiting(let failure):
                if failure != nil {
                    let now = context.clock.now
                    awaitsKeyFrame = !packet.isKey && state.schedule?.isDue(at: now) == true
                    guard packet.isKey, state.schedule?.restart(at: now) == true else {
                        return (.failure(Refusal(reason: .sinkFailed)), false, false)
                    }
                }
                let lane = makeLane()
                state.phase = .running(lane)
                return (.success(lane), true, true)
            }
        }
        if awaitsKeyFrame { context.requestKeyFrame() }
        guard case .success(let lane) = lane else { return lane }
        if isNew {
            do throws(InletError) {
                try lane.begin()
            } catch {
                // The lane has no thread to end it.
                end(error.about(name))
                return .failure(Refusal(reason: .sinkFailed))
            }
        }
        if startsAnew { lane.start(parameters, quietly: packet.isKey) }
        return .success(lane)
    }

    private func makeLane() -> PacketLane {
        PacketLane(
            id: PacketFanOut.ID(number: id.number), name: name, sink: configuration.makePacketSink(),
            capacity: Self.capacity, onKeyFrameRequest: context.requestKeyFrame,
            onTaken: { [weak self] in self?.signalRoom() },
            onWritten: { [weak self] in self?.noteWritten() },
            onDrop: { [counters] reason, count in counters.countDrop(reason, count) },
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

    /// Decides in one step what follows a lane that has ended: no packet may arrive in between and make another lane.
    private func laneEnded(_ lane: PacketLane, _ error: InletError?) {
        let now = context.clock.now
        let next = state.withLock { state -> (attempt: Int, delay: Duration)? in
            guard case .running(let current) = state.phase, current === lane, let error,
                !RetryPolicy.isPermanent(error), let next = state.schedule?.fail(at: now)
            else { return nil }
            state.phase = .waiting(error)
            return next
        }
        if let next, let error {
            context.report(self, .restarting(error, attempt: next.attempt, delay: next.delay))
        } else {
            end(error)
        }
    }

    func finish(_ error: InletError?) {
        state.withLock { $0.isComplete = error == nil }
        finish(reporting: nil)
    }

    func close() {
        guard let lane = finish(reporting: nil) else { return }
        // Each packet is part of a whole, and a file is complete only with those queued; but a server may take as long
        // as it likes for each.
        lane.close(at: context.clock.now + Self.gracePeriod, by: context.clock)
    }

    /// Accepts no more packets, and has the lane write those it holds.
    ///
    /// - Returns: the lane, if there is one.
    @discardableResult
    private func finish(reporting error: InletError?) -> PacketLane? {
        let (lane, failure) = state.withLock { state -> (PacketLane?, InletError?) in
            switch state.phase {
            case .waiting(let failure): return (nil, failure)
            case .running(let lane):
                state.phase = .finishing(lane, error)
                return (lane, nil)
            case .finishing(let lane, _): return (lane, nil)
            case .ended: return (nil, nil)
            }
        }
        guard let lane else {
            end(error ?? failure)
            return nil
        }
        lane.finish()
        // A source that waits for room in a sink that hangs continues without it.
        signalRoom()
        return lane
    }

    /// A recording without a single packet is a failure.
    private static let nothing = InletError(
        .unsupported, "The source yielded no packet that can be passed on unchanged. Leave out codec=copy.")

    /// Reports the end, once.
    private func end(_ error: InletError?) {
        let (isFirst, isComplete, reported) = state.withLock { state -> (Bool, Bool, InletError?) in
            defer { state.phase = .ended }
            switch state.phase {
            case .ended: return (false, false, nil)
            case .finishing(_, let reported?): return (true, false, reported)
            case .finishing, .running, .waiting: return (true, state.isComplete, error)
            }
        }
        guard isFirst else { return }
        counters.isAttached.store(false, ordering: .relaxed)
        let hasNothing = isComplete && counters.delivered.load(ordering: .relaxed) == 0
        context.report(self, .ended(reported ?? (hasNothing ? Self.nothing.about(name) : nil)))
        ended.resolve(())
    }
}
