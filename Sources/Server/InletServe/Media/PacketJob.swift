import Dispatch
import InletCapture
import InletCore
import InletSystem
import Synchronization

/// Passes packets through a bounded queue to a packet sink on a separate thread. Safe from any thread.
///
/// Unlike the lanes of a fan-out, a job may begin with earlier packets from a camera's history. If the queue is full,
/// packets are dropped up to a key frame.
final class PacketJob: Sendable {
    /// An item for the sink.
    enum Item: Sendable {
        case start(CodecParameters)
        case packet(EncodedPacket)
    }

    private let state: Mutex<State>
    private let signal = DispatchSemaphore(value: 0)
    /// The time since which the sink has been handling one item, in nanoseconds; 0 while it is idle.
    private let busySince = Atomic(Int64(0))
    private let ended = Completion<Void>()
    private static let endLimit = Duration.seconds(7)
    /// The maximum number of bytes in the queue, not counting the history.
    private static let longestBacklog = 32 << 20
    /// The maximum number of packets in the queue, not counting the history.
    private static let mostPackets = 4096

    private struct State {
        var items: [Item]
        var byteCount = 0
        var packetCount = 0
        var isAwaitingKey = false
        /// Whether the sink waits for a key frame that is not in the queue.
        var needsKeyFrame = false
        /// The capture time of the newest key frame that was put into the queue.
        var newestKey: MonotonicTime?
        var isFinished = false
        /// Whether the sink accepts no more packets.
        var hasEnded = false
        var dropped: UInt64 = 0
    }

    /// Makes a job whose sink first receives the packets of the history.
    init(_ items: [Item] = []) {
        let keys = items.lazy.compactMap { item in
            if case .packet(let packet) = item, packet.isKey { packet.captureTime } else { nil }
        }
        var state = State(items: items)
        state.newestKey = keys.max()
        state.needsKeyFrame = state.newestKey == nil
        self.state = Mutex(state)
    }

    /// Whether the sink cannot continue before a key frame that has not arrived yet.
    var needsKeyFrame: Bool {
        state.withLock { !$0.isFinished && !$0.hasEnded && ($0.needsKeyFrame || $0.isAwaitingKey) }
    }

    /// The number of packets dropped because the sink was too slow.
    var dropped: UInt64 { state.withLock { $0.dropped } }

    /// The time since which the sink has been handling one item; nil while it is idle.
    var isBusySince: MonotonicTime? {
        let time = busySince.load(ordering: .relaxed)
        return time == 0 ? nil : MonotonicTime(nanoseconds: time)
    }

    /// Runs an operation of the sink that may wait for a disk.
    private func observed<Value>(_ body: () throws -> Value) rethrows -> Value {
        busySince.store(MonotonicTime.now.nanoseconds, ordering: .relaxed)
        defer { busySince.store(0, ordering: .relaxed) }
        return try body()
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - name: the thread's name.
    ///   - makeSink: makes the sink, on the thread.
    ///   - onEnd: called on the thread when the sink has finished, with the error if it failed.
    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses a thread.
    func begin(
        named name: String, makeSink: @escaping @Sendable () throws(InletError) -> any PacketSink,
        onEnd: @escaping @Sendable (InletError?) -> Void
    ) throws(InletError) {
        do throws(InletError) {
            try SystemThread.start(named: name) {
                let error = self.work(makeSink)
                self.state.withLock { ($0.hasEnded, $0.items) = (true, []) }
                onEnd(error)
                self.ended.resolve(())
            }
        } catch {
            ended.resolve(())
            throw error
        }
    }

    /// Lets the sink write the waiting packets, and ends it. Returns when the thread has ended, or after seven seconds
    /// if the sink hangs.
    func end() async {
        finish()
        // If the thread hangs, `ended` never resolves and keeps only this value alive.
        let isOver = Completion<Void>()
        ended.observe { isOver.resolve(()) }
        let limit = Task {
            try? await Task.sleep(for: Self.endLimit)
            isOver.resolve(())
        }
        await isOver.value()
        limit.cancel()
    }

    /// Passes on new parameters. The next packet is a key frame.
    func start(_ parameters: CodecParameters) {
        put { state in
            // Parameters without any packets are of no use.
            if case .start = state.items.last { state.items.removeLast() }
            state.items.append(.start(parameters))
            state.isAwaitingKey = true
            return true
        }
    }

    /// Passes on a packet.
    func put(_ packet: EncodedPacket) {
        put { state in
            let hasRoom =
                state.byteCount + packet.data.count <= Self.longestBacklog && state.packetCount < Self.mostPackets
            if packet.isKey { (state.newestKey, state.needsKeyFrame) = (packet.captureTime, false) }
            guard hasRoom, packet.isKey || !state.isAwaitingKey else {
                state.isAwaitingKey = true
                state.dropped += 1
                return false
            }
            state.isAwaitingKey = false
            state.items.append(.packet(packet))
            state.byteCount += packet.data.count
            state.packetCount += 1
            return true
        }
    }

    /// Lets the sink write the waiting packets, and ends it.
    func finish() {
        put { state in
            state.isFinished = true
            return true
        }
    }

    private func put(_ body: (inout State) -> Bool) {
        let wakes = state.withLock { state in
            guard !state.isFinished, !state.hasEnded else { return false }
            return body(&state)
        }
        if wakes { signal.signal() }
    }

    private func work(_ makeSink: () throws(InletError) -> any PacketSink) -> InletError? {
        let sink: any PacketSink
        do throws(InletError) {
            sink = try makeSink()
        } catch {
            return error
        }
        var hasStarted = false
        var failure: InletError?
        do {
            while true {
                let (items, isFinished) = state.withLock { state in
                    defer { (state.items, state.byteCount, state.packetCount) = ([], 0, 0) }
                    return (state.items, state.isFinished)
                }
                for item in items { try observed { try hand(item, to: sink, &hasStarted) } }
                if isFinished { break }
                if items.isEmpty { signal.wait() }
            }
        } catch is SinkStopped {
        } catch {
            failure = InletError(wrapping: error, operation: "Writing packets")
        }
        guard hasStarted else { return failure }
        do {
            try observed { try sink.finish() }
        } catch is SinkStopped {
        } catch {
            failure = failure ?? InletError(wrapping: error, operation: "Finishing packets")
        }
        return failure
    }

    private func hand(_ item: Item, to sink: any PacketSink, _ hasStarted: inout Bool) throws {
        do {
            switch item {
            case .start(let parameters):
                try sink.start(parameters)
                hasStarted = true
            case .packet(let packet):
                try sink.write(packet)
                if sink.wantsKeyFrame { needKeyFrame(after: packet) }
            }
        } catch is KeyFrameNeeded {
            // Packets that are already waiting are still passed on, and are rejected up to a key frame.
            state.withLock { $0.dropped += 1 }
            if case .packet(let packet) = item { needKeyFrame(after: packet) }
        }
    }

    /// Records that the sink needs a key frame, unless one that follows a packet is already in the queue.
    private func needKeyFrame(after packet: EncodedPacket) {
        state.withLock { state in
            if state.newestKey.map({ $0 <= packet.captureTime }) ?? true { state.needsKeyFrame = true }
        }
    }
}
