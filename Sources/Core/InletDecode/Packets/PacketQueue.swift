import DequeModule
import Dispatch
import InletCore
import Synchronization

/// A queue of packets between the thread that reads them and the one that decodes them, bounded in number and bytes.
final class PacketQueue: Sendable {
    /// The limits of the queue.
    struct Limits: Sendable {
        /// Some 17 seconds at 30 a second: queued packets are decoded or skipped long before.
        var packets = 512
        var bytes = 32 << 20
    }

    /// A packet taken from the queue.
    struct Taken {
        var packet: SourcePacket
        /// Whether a key frame is queued after it.
        var precedesKey: Bool
        /// The number of packets queued after it.
        var waiting: Int
    }

    /// The result of ``take(mayWait:)``.
    enum Next {
        case packet(Taken)
        /// The end of the stream.
        case ended
        /// No packet is queued, and the caller may not wait for one.
        case none
    }

    private struct State {
        var packets: Deque<SourcePacket> = []
        var bytes = 0
        var keys = 0
        /// The end of the stream; nil while more packets may arrive.
        var end: Result<Void, InletError>?
        var isClosed = false
        var takerWaits = false
        var putterWaits = false

        /// Returns whether ``take(mayWait:)`` waits, and has to be woken.
        mutating func endTakersWait() -> Bool {
            defer { takerWaits = false }
            return takerWaits
        }

        /// Returns whether ``put(_:mayWait:)`` waits, and has to be woken.
        mutating func endPuttersWait() -> Bool {
            defer { putterWaits = false }
            return putterWaits
        }
    }

    private let state = Mutex(State())
    private let limits: Limits
    private let filled = DispatchSemaphore(value: 0)
    private let emptied = DispatchSemaphore(value: 0)

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// Adds a packet. Blocks while the queue is full, until ``interruptPut()``, ``clear()`` or ``close()``.
    ///
    /// - Parameter mayWait: asked before each wait.
    /// - Returns: whether it was added.
    func put(_ packet: SourcePacket, mayWait: () -> Bool) -> Bool {
        while true {
            let (isOver, isPut, wakes) = state.withLock { state -> (Bool, Bool, Bool) in
                guard !state.isClosed else { return (true, false, false) }
                let hasRoom =
                    state.packets.count < limits.packets && state.bytes + packet.data.count <= limits.bytes
                guard hasRoom || state.packets.isEmpty else {
                    state.putterWaits = true
                    return (false, false, false)
                }
                state.packets.append(packet)
                state.bytes += packet.data.count
                state.keys += packet.isKey ? 1 : 0
                return (true, true, state.endTakersWait())
            }
            // Outside the lock, which the other thread takes first.
            if wakes { filled.signal() }
            if isOver { return isPut }
            guard mayWait() else { return false }
            emptied.wait()
        }
    }

    /// Records that no packet follows.
    func finish(_ end: Result<Void, InletError>) {
        let wakes = state.withLock { state in
            state.end = end
            return state.endTakersWait()
        }
        if wakes { filled.signal() }
    }

    /// Returns the next packet. Blocks until a packet is available.
    ///
    /// - Parameter mayWait: asked before each wait; ``interruptTake()`` has it asked again. The default allows it.
    /// - Throws: the error passed to ``finish(_:)``, when all packets were taken.
    func take(mayWait: () -> Bool = { true }) throws(InletError) -> Next {
        var isLastLook = false
        while true {
            let (found, wakes) = state.withLock { state -> (Result<Next, InletError>?, Bool) in
                guard let packet = state.packets.popFirst() else {
                    if let end = state.end { return (end.map { .ended }, false) }
                    state.takerWaits = true
                    return (nil, false)
                }
                state.bytes -= packet.data.count
                state.keys -= packet.isKey ? 1 : 0
                let taken = Taken(packet: packet, precedesKey: state.keys > 0, waiting: state.packets.count)
                return (.success(.packet(taken)), state.endPuttersWait())
            }
            if wakes { emptied.signal() }
            if let found { return try found.get() }
            if isLastLook { return .none }
            // A packet put before the caller was told not to wait may have come after the check.
            if mayWait() { filled.wait() } else { isLastLook = true }
        }
    }

    /// Wakes a blocked ``take(mayWait:)``, which then asks whether it may continue.
    func interruptTake() {
        if state.withLock({ $0.endTakersWait() }) { filled.signal() }
    }

    /// Discards the queued packets.
    func clear() {
        let wakes = state.withLock { state in
            state.packets.removeAll(keepingCapacity: true)
            (state.bytes, state.keys) = (0, 0)
            return state.endPuttersWait()
        }
        if wakes { emptied.signal() }
    }

    /// Wakes a blocked ``put(_:mayWait:)``, which then asks whether it may continue.
    func interruptPut() {
        if state.withLock({ $0.endPuttersWait() }) { emptied.signal() }
    }

    /// Accepts no more packets and discards those queued.
    func close() {
        state.withLock { $0.isClosed = true }
        clear()
    }
}
