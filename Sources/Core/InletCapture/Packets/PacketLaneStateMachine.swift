import DequeModule
import InletCore

/// The decisions of one packet sink's queue, without a lock or a thread.
///
/// The queue is bounded. When it is full, packets are dropped up to the next key frame, so that the sink gets only
/// packets that can be decoded; a key frame is requested when there is room again.
struct PacketLaneStateMachine {
    enum Item {
        case start(CodecParameters)
        case packet(EncodedPacket)
    }

    private let capacity: Int
    private let byteCapacity: Int
    private var byteCount = 0
    private var items: Deque<Item> = []
    private var isAwaitingKey = true
    private var isAsked = false
    /// Whether no packet has come yet, or packets are withheld, so that a key frame would be, too.
    private var isWithheld = true
    private var isEnded = false
    private(set) var dropped: UInt64 = 0
    private var idleness = Idleness.busy

    /// The state of the lane's thread while the queue is empty.
    private enum Idleness {
        case busy
        /// Lets packets accumulate.
        case resting
        /// Waits for the next item.
        case waiting
    }

    /// - Parameters:
    ///   - capacity: the most packets, at least 2.
    ///   - byteCapacity: the most bytes. A single packet is accepted whatever its size.
    init(capacity: Int, byteCapacity: Int = Self.usualByteCapacity) {
        self.capacity = max(2, capacity)
        self.byteCapacity = byteCapacity
    }

    /// Four seconds at 64 Mbit/s, which no camera sustains.
    static let usualByteCapacity = 32 << 20

    /// The packets' parameters change; the next packet is a key frame.
    mutating func start(_ parameters: CodecParameters) {
        guard !isEnded else { return }
        // A sink that has fallen so far behind continues with the new packets.
        if items.count >= capacity {
            dropped += UInt64(items.count { if case .packet = $0 { true } else { false } })
            items.removeAll(keepingCapacity: true)
            byteCount = 0
        }
        items.append(.start(parameters))
        (isAwaitingKey, isAsked) = (true, false)
    }

    /// - Returns: why the packet was dropped, or nil if it is queued.
    mutating func put(_ packet: EncodedPacket) -> DropReason? {
        if isWithheld { (isWithheld, isAsked) = (false, false) }
        guard !isEnded else {
            dropped += 1
            return .cancelled
        }
        guard hasRoom, packet.isKey || !isAwaitingKey else {
            isAwaitingKey = true
            if packet.isKey { isAsked = false }
            dropped += 1
            return .queueFull
        }
        (isAwaitingKey, isAsked) = (false, false)
        byteCount += packet.data.count
        items.append(.packet(packet))
        return nil
    }

    /// The sink did not accept the packet, because it needs a key frame first.
    mutating func refuse() {
        dropped += 1
        // A key frame that is already queued is the one that the sink needs.
        if !items.contains(where: { if case .packet(let packet) = $0 { packet.isKey } else { false } }) {
            isAwaitingKey = true
        }
    }

    /// A packet was withheld from the sink: the next one that it gets is a key frame.
    mutating func lose() { (isAwaitingKey, isWithheld) = (true, true) }

    enum Taken {
        case item(Item)
        /// The queue is empty: the thread sleeps until it is woken, or until it has rested.
        case empty
        case finished
    }

    /// Takes the oldest item.
    ///
    /// - Parameter rests: whether the thread rests for a while if the queue is empty, and is woken only by what cannot
    ///   wait.
    mutating func take(rests: Bool = false) -> Taken {
        idleness = .busy
        if let item = items.popFirst() {
            if case .packet(let packet) = item { byteCount -= packet.data.count }
            return .item(item)
        }
        if isEnded { return .finished }
        idleness = rests ? .resting : .waiting
        return .empty
    }

    /// Whether the thread must be woken after a change. True once for each sleep.
    mutating func takeWakeUp() -> Bool {
        let isUrgent = isEnded || items.count > capacity / 2 || byteCount > byteCapacity / 2
        guard idleness == .waiting && (isEnded || !items.isEmpty) || idleness == .resting && isUrgent else {
            return false
        }
        idleness = .busy
        return true
    }

    /// Accepts no more packets; those queued are still delivered.
    mutating func finish() { isEnded = true }

    /// Ends at once.
    ///
    /// - Parameter lost: packets that were taken but that the sink did not keep.
    mutating func close(losing lost: UInt64 = 0) {
        dropped += lost
        dropped += UInt64(items.count { if case .packet = $0 { true } else { false } })
        items.removeAll()
        byteCount = 0
        isEnded = true
    }

    /// Whether a packet would be accepted.
    var hasRoom: Bool { items.count < capacity && byteCount < byteCapacity || isEnded }

    /// Whether to request a key frame now. True once for each group that was dropped.
    mutating func takeKeyFrameRequest() -> Bool {
        guard isAwaitingKey, !isAsked, !isEnded, !isWithheld, items.count <= capacity / 2, byteCount <= byteCapacity / 2
        else {
            return false
        }
        isAsked = true
        return true
    }
}
