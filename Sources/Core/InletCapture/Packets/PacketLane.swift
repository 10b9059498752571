import Dispatch
import InletCore
import InletSystem
import Synchronization

// Unsafe: has a packet sink that only its thread uses.
/// A packet sink of a fan-out, with its queue and its thread.
final class PacketLane: Sendable {
    let id: PacketFanOut.ID
    let name: String
    private let state: Mutex<PacketLaneStateMachine>
    private let signal = DispatchSemaphore(value: 0)
    private let hasBegun = Atomic(false)
    private let delivered = Atomic(UInt64(0))
    private let worker: Worker
    /// Closes a lane that does not finish in time.
    private let closing = Mutex((any CaptureTimer)?.none)
    private let onKeyFrameRequest: @Sendable () -> Void
    private let onTaken: @Sendable () -> Void
    private let onWritten: @Sendable () -> Void
    private let onDrop: @Sendable (DropReason, Int) -> Void
    private let onEnd: @Sendable (PacketLane, InletError?) -> Void

    /// Touched on the lane's thread only, which is what makes it safe to hand around.
    private final class Worker: @unchecked Sendable {
        let sink: any PacketSink
        let batchInterval: Duration
        var hasStarted = false

        init(_ sink: any PacketSink) {
            self.sink = sink
            batchInterval = sink.batchInterval
        }
    }

    /// - Parameters:
    ///   - onKeyFrameRequest: called when a key frame is needed.
    ///   - onTaken: called on the lane's thread when there may be room again.
    ///   - onWritten: called on the lane's thread after each packet that the sink accepted.
    ///   - onDrop: called with the number of packets that the sink will not get, and why.
    ///   - onEnd: called on the lane's thread, once, when the sink has finished.
    init(
        id: PacketFanOut.ID, name: String, sink: sending any PacketSink, capacity: Int,
        onKeyFrameRequest: @escaping @Sendable () -> Void, onTaken: @escaping @Sendable () -> Void = {},
        onWritten: @escaping @Sendable () -> Void = {},
        onDrop: @escaping @Sendable (DropReason, Int) -> Void = { _, _ in },
        onEnd: @escaping @Sendable (PacketLane, InletError?) -> Void
    ) {
        self.id = id
        self.name = name
        state = Mutex(PacketLaneStateMachine(capacity: capacity))
        worker = Worker(sink)
        self.onKeyFrameRequest = onKeyFrameRequest
        self.onTaken = onTaken
        self.onWritten = onWritten
        self.onDrop = onDrop
        self.onEnd = onEnd
    }

    /// Starts the thread, once.
    ///
    /// - Throws: if the system refuses a thread.
    func begin() throws(InletError) {
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        try SystemThread.start(named: "inlet-\(name)") { self.work() }
    }

    var figures: PacketFanOut.Figures {
        PacketFanOut.Figures(
            id: id, name: name, written: delivered.load(ordering: .relaxed), dropped: state.withLock { $0.dropped })
    }

    /// - Parameter quietly: requests no key frame; the caller does.
    func start(_ parameters: CodecParameters, quietly: Bool = false) {
        change(quietly) { state in
            state.start(parameters)
            return .queueFull
        }
    }
    func put(_ packet: EncodedPacket) { change { $0.put(packet) } }
    /// Records that a packet was withheld from the sink, which continues with a key frame.
    func lose() {
        change { state in
            state.lose()
            return nil
        }
    }
    /// Whether a packet would be accepted. Stays true until one is put.
    var hasRoom: Bool { state.withLock { $0.hasRoom } }
    func finish() {
        change { state in
            state.finish()
            return nil
        }
    }
    func close() { close(.cancelled) }
    /// Drops the packets still queued at that time, if the lane has not ended. Only the first call counts. Returns at
    /// once.
    func close(at time: MonotonicTime, by clock: any CaptureClock) {
        closing.withLock { closing in
            guard closing == nil else { return }
            let timer = clock.makeTimer(on: DispatchQueue(label: "inlet.packet-deadline")) { [weak self] in
                self?.close()
            }
            timer.set(for: time, leeway: .milliseconds(200))
            closing = timer
        }
    }

    private func close(_ reason: DropReason, losing lost: UInt64 = 0) {
        change { state in
            state.close(losing: lost)
            return reason
        }
    }

    /// - Parameter body: returns the reason for any drop.
    private func change(_ quietly: Bool = false, _ body: (inout PacketLaneStateMachine) -> DropReason?) {
        let (needsKeyFrame, wakes, reason, dropped) = state.withLock { state in
            let before = state.dropped
            let reason = body(&state)
            return (state.takeKeyFrameRequest(), state.takeWakeUp(), reason, state.dropped - before)
        }
        if wakes { signal.signal() }
        if needsKeyFrame, !quietly { onKeyFrameRequest() }
        if let reason, dropped > 0 { onDrop(reason, Int(clamping: dropped)) }
    }

    private func work() {
        // Packets that arrived while it rested are written one after another; then it rests again.
        var rests = worker.batchInterval > .zero
        while true {
            let (taken, needsKeyFrame) = state.withLock { ($0.take(rests: rests), $0.takeKeyFrameRequest()) }
            if needsKeyFrame { onKeyFrameRequest() }
            switch taken {
            case .empty where rests:
                rests = false
                _ = signal.wait(timeout: .now() + .nanoseconds(Int(clamping: worker.batchInterval.wholeNanoseconds)))
            case .empty: signal.wait()
            case .finished:
                end(nil)
                return
            case .item(let item):
                rests = worker.batchInterval > .zero
                onTaken()
                do {
                    try handle(item)
                } catch is KeyFrameNeeded {
                    change { state in
                        state.refuse()
                        return .sinkFailed
                    }
                } catch is SinkStopped {
                    end(nil, during: item)
                    return
                } catch {
                    end(InletError(wrapping: error, operation: "The packet sink").about(name), during: item)
                    return
                }
            }
        }
    }

    private func handle(_ item: PacketLaneStateMachine.Item) throws {
        switch item {
        case .start(let parameters):
            try worker.sink.start(parameters)
            worker.hasStarted = true
        case .packet(let packet):
            try worker.sink.write(packet)
            delivered.add(1, ordering: .relaxed)
            onWritten()
            if worker.sink.wantsKeyFrame { onKeyFrameRequest() }
        }
    }

    /// - Parameter item: the item for which the sink threw, and which it did not accept.
    private func end(_ error: InletError?, during item: PacketLaneStateMachine.Item? = nil) {
        let isPacket = if case .packet? = item { true } else { false }
        close(error == nil ? .cancelled : .sinkFailed, losing: isPacket ? 1 : 0)
        onTaken()
        var error = error
        if worker.hasStarted {
            do {
                try worker.sink.finish()
            } catch is SinkStopped {
            } catch let failure {
                error = error ?? InletError(wrapping: failure, operation: "Finishing the packet sink").about(name)
            }
        }
        onEnd(self, error)
    }
}
