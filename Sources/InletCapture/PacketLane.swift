import Dispatch
import InletCore
import Synchronization

/// One packet sink of a fan-out, with its queue and its thread.
final class PacketLane: Sendable {
    let id: PacketFanOut.ID
    let name: String
    private let state: Mutex<PacketLaneStateMachine>
    private let signal = DispatchSemaphore(value: 0)
    private let hasBegun = Atomic(false)
    private let delivered = Atomic(UInt64(0))
    private let worker: Worker
    private let onWish: @Sendable () -> Void
    private let onTaken: @Sendable () -> Void
    private let onWritten: @Sendable () -> Void
    private let onEnd: @Sendable (PacketLane, InletError?) -> Void

    /// Touched on the lane's thread only, which is what makes it safe to hand around.
    private final class Worker: @unchecked Sendable {
        let sink: any PacketSink
        var hasStarted = false

        init(_ sink: any PacketSink) { self.sink = sink }
    }

    init(
        id: PacketFanOut.ID, name: String, sink: sending any PacketSink, capacity: Int,
        onWish: @escaping @Sendable () -> Void, onTaken: @escaping @Sendable () -> Void = {},
        onWritten: @escaping @Sendable () -> Void = {}, onEnd: @escaping @Sendable (PacketLane, InletError?) -> Void
    ) {
        self.id = id
        self.name = name
        state = Mutex(PacketLaneStateMachine(capacity: capacity))
        worker = Worker(sink)
        self.onWish = onWish
        self.onTaken = onTaken
        self.onWritten = onWritten
        self.onEnd = onEnd
    }

    /// Starts the thread, once.
    ///
    /// - Throws: where the system refuses a thread.
    func begin() throws(InletError) {
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        try CaptureThread.start(named: "inlet-\(name)") { self.work() }
    }

    var figures: PacketFanOut.Figures {
        PacketFanOut.Figures(
            id: id, name: name, written: delivered.load(ordering: .relaxed), dropped: state.withLock { $0.dropped })
    }

    /// - Parameter quietly: asks for no key frame; the caller does.
    func start(_ parameters: CodecParameters, quietly: Bool = false) { change(quietly) { $0.start(parameters) } }
    func put(_ packet: EncodedPacket) { change { $0.put(packet) } }
    /// A packet is kept from the sink, which goes on with a key frame.
    func lose() { change { $0.lose() } }
    /// Whether a packet would be taken. Stays true until one is put.
    var hasRoom: Bool { state.withLock { $0.hasRoom } }
    func finish() { change { $0.finish() } }
    func close() { change { $0.close() } }

    private func change(_ quietly: Bool = false, _ body: (inout PacketLaneStateMachine) -> Void) {
        let wishes = state.withLock { state in
            body(&state)
            return state.takeWish()
        }
        signal.signal()
        if wishes, !quietly { onWish() }
    }

    private func work() {
        while true {
            let (taken, wishes) = state.withLock { ($0.take(), $0.takeWish()) }
            if wishes { onWish() }
            switch taken {
            case .empty: signal.wait()
            case .finished:
                end(nil)
                return
            case .item(let item):
                onTaken()
                do {
                    try handle(item)
                } catch is SinkStopped {
                    end(nil)
                    return
                } catch {
                    end(InletError(wrapping: error, operation: "The packet sink").about(name))
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
            if worker.sink.wantsKeyFrame { onWish() }
        }
    }

    private func end(_ error: InletError?) {
        state.withLock { $0.close() }
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
