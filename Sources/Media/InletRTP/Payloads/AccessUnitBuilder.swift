import InletCore

/// Collects the bytes of one access unit after another, within limits, and queues the finished ones.
struct AccessUnitBuilder {
    /// The facts about a finished unit besides its bytes.
    struct Facts {
        var isKey = false
        var recoveryFrames: Int?
        var isIntra: Bool?
        var isReference: Bool?
        var isDamaged = false
        var isAfterLoss = false
        var hasNewParameterSets = false
        /// The counter for the unit if it is dropped although it is whole; nil if it is to be returned.
        var dropped: WritableKeyPath<DepacketizerStatistics, Int>?
    }

    /// Whether the next unit that begins is the first of another timeline.
    var isTimelineBroken = false
    private var startsTimeline = false

    let settings: DepacketizerSettings
    let pool: AccessUnitPool
    var statistics = DepacketizerStatistics()

    /// Whether a unit is being built. It may have no bytes yet.
    private(set) var isOpen = false
    var timestamp: UInt32 = 0
    private(set) var firstArrival = MonotonicTime(nanoseconds: 0)
    private(set) var lastArrival = MonotonicTime(nanoseconds: 0)
    /// Whether the unit exceeds a limit. Its bytes are not kept then.
    private(set) var isRefused = false
    /// The offset of the unit's bytes in the block.
    private(set) var start = 0
    private(set) var end = 0
    private var block: AccessUnitBlock?
    private var headroom = 0
    private var sizes = UnitSizes()

    // A ring, so that taking a unit moves no others.
    private var ready: [AccessUnit?] = Array(repeating: nil, count: Self.maximumReady)
    private var firstReady = 0
    private var readyCount = 0

    /// The most finished units that wait to be taken.
    static let maximumReady = 64

    init(settings: DepacketizerSettings) {
        self.settings = settings
        pool = AccessUnitPool(bytes: settings.poolSize, blocks: settings.poolUnits)
    }

    var count: Int { end - start }

    /// Whether no further unit can be queued before one is taken.
    var isFull: Bool { readyCount >= Self.maximumReady }

    // MARK: Building

    /// Records a packet of the unit, which it opens if need be.
    ///
    /// - Parameter headroom: bytes to keep free at the front, for data inserted when the unit ends.
    mutating func open(timestamp: UInt32, at time: MonotonicTime, headroom: Int = 0) {
        guard !isOpen else {
            // Packets are read in the order of their numbers, which need not be that of their arrival.
            firstArrival = min(firstArrival, time)
            lastArrival = max(lastArrival, time)
            return
        }
        lastArrival = time
        isOpen = true
        isRefused = false
        (startsTimeline, isTimelineBroken) = (startsTimeline || isTimelineBroken, false)
        self.timestamp = timestamp
        firstArrival = time
        self.headroom = headroom
        start = headroom
        end = headroom
    }

    mutating func append(_ bytes: RawSpan) {
        guard reserve(bytes.byteCount) else { return }
        block?.write(bytes, at: end)
        end += bytes.byteCount
    }

    mutating func append(_ byte: UInt8) {
        guard reserve(1) else { return }
        block?.write(byte, at: end)
        end += 1
    }

    /// Appends a start code of four bytes: H.264 section B.1.1.
    mutating func appendStartCode() {
        guard reserve(4) else { return }
        for index in 0..<4 { block?.write(index == 3 ? 1 : 0, at: end + index) }
        end += 4
    }

    mutating func append(_ bytes: [UInt8]) { append(bytes.rawBytes) }

    /// Forgets the bytes from that place on.
    mutating func truncate(to place: Int) {
        guard place >= start, place <= end else { return }
        end = place
    }

    /// Overwrites a byte of the unit.
    mutating func replace(at place: Int, with byte: UInt8) {
        guard place >= start, place < end else { return }
        block?.write(byte, at: place)
    }

    /// Inserts bytes after the first ones of the unit: into the headroom if they fit, so that no more than those first
    /// ones move.
    mutating func insert(_ bytes: RawSpan, behind first: Int) {
        let size = bytes.byteCount
        guard isOpen, !isRefused, first >= 0, first <= count else { return }
        if size <= start {
            block?.move(start..<start + first, to: start - size)
            start -= size
        } else {
            guard reserve(size) else { return }
            block?.move(start + first..<end, to: start + first + size)
            end += size
        }
        block?.write(bytes, at: start + first)
    }

    /// Makes the unit one that is dropped for a limit.
    mutating func refuse(_ counter: WritableKeyPath<DepacketizerStatistics, Int>) {
        guard isOpen, !isRefused else { return }
        statistics[keyPath: counter] &+= 1
        isRefused = true
        block = nil
        start = 0
        end = 0
    }

    /// Makes room for that many bytes more.
    private mutating func reserve(_ size: Int) -> Bool {
        guard isOpen, !isRefused else { return false }
        // Blocks are larger than requested, so room in a block does not mean that the limit is kept.
        guard size <= settings.maximumSize - count else {
            refuse(\.tooLarge)
            return false
        }
        let needed = end + size
        if let block, needed <= block.capacity { return true }
        let wanted = block.map { max($0.capacity &* 2, sizes.large &+ headroom) } ?? sizes.usual &+ headroom
        let most = max(needed, settings.maximumSize &+ headroom)
        guard let larger = pool.take(max(needed, min(wanted, most))) else {
            refuse(\.noMemory)
            return false
        }
        if let block { larger.write(block.bytes.extracting(start..<end), at: start) }
        block = larger
        return true
    }

    /// Gives the bytes of the unit to a function that reads them.
    func read<Result>(_ range: Range<Int>, _ body: (RawSpan) -> Result) -> Result? {
        guard let block, !isRefused, range.lowerBound >= start, range.upperBound <= end else { return nil }
        return body(block.bytes.extracting(range))
    }

    /// Returns a byte of the unit; nil beyond it.
    func byte(at place: Int) -> UInt8? {
        guard let block, !isRefused, place >= start, place < end else { return nil }
        return block.bytes[place]
    }

    // MARK: Finishing

    /// Forgets the unit.
    mutating func discard() {
        isOpen = false
        isRefused = false
        start = 0
        end = 0
    }

    /// Finishes the unit up to a place; the bytes after it become the beginning of the next unit.
    ///
    /// - Returns: whether the unit can be taken. It is dropped if it is refused, empty, or damaged and not wanted so.
    mutating func finish(_ facts: Facts, upTo place: Int? = nil) -> Bool {
        let place = min(max(place ?? end, start), end)
        let (tail, block) = (place..<end, block)
        var isReturned = false
        if facts.isDamaged { statistics.damagedUnits &+= 1 }
        if isRefused {
            // It is counted already.
        } else if facts.isDamaged, settings.damage == .drop {
            statistics.droppedUnits &+= 1
        } else if let counter = facts.dropped {
            statistics[keyPath: counter] &+= 1
        } else if let block, place > start {
            if !isFull {
                // Padding is written after the unit, so the tail is saved first.
                var next: AccessUnitBlock?
                if !tail.isEmpty {
                    next = pool.take(max(sizes.usual, tail.count) &+ headroom)
                    next?.write(block.bytes.extracting(tail), at: headroom)
                }
                queue(facts, data(of: block, start..<place))
                self.block = next
                isReturned = true
                reopen(tail.count)
                if next == nil, !tail.isEmpty { refuse(\.noMemory) }
                return isReturned
            }
            statistics.noMemory &+= 1
        }
        if let block, !tail.isEmpty { block.move(tail, to: headroom) }
        reopen(tail.count)
        return isReturned
    }

    /// Returns the bytes of a finished unit. A unit that fills little of its block is copied to a smaller block:
    /// consumers may hold it for long.
    private func data(of block: AccessUnitBlock, _ range: Range<Int>) -> PacketData {
        let isWasteful = block.capacity > Self.largestWaste && block.capacity / 4 > range.count
        guard isWasteful, let smaller = pool.take(range.count) else { return block.packetData(range) }
        smaller.write(block.bytes.extracting(range), at: 0)
        return smaller.packetData(0..<range.count)
    }

    /// Blocks up to this size are not worth a copy.
    private static let largestWaste = 32 << 10

    private mutating func reopen(_ size: Int) {
        isOpen = size > 0
        isRefused = false
        if isOpen { (startsTimeline, isTimelineBroken) = (startsTimeline || isTimelineBroken, false) }
        start = headroom
        end = headroom + size
        firstArrival = lastArrival
    }

    private mutating func queue(_ facts: Facts, _ data: PacketData) {
        sizes.note(data.count)
        ready[(firstReady + readyCount) % Self.maximumReady] = AccessUnit(
            data: data, timestamp: timestamp, firstArrival: firstArrival, lastArrival: lastArrival,
            isKey: facts.isKey, recoveryFrames: facts.recoveryFrames, isIntra: facts.isIntra,
            isReference: facts.isReference, isDamaged: facts.isDamaged, isAfterLoss: facts.isAfterLoss,
            startsTimeline: startsTimeline, hasNewParameterSets: facts.hasNewParameterSets)
        startsTimeline = false
        readyCount += 1
        statistics.units &+= 1
    }

    /// Returns the oldest finished unit; nil if no unit is finished.
    mutating func take() -> AccessUnit? {
        guard readyCount > 0 else { return nil }
        let unit = ready[firstReady]
        ready[firstReady] = nil
        firstReady = (firstReady + 1) % Self.maximumReady
        readyCount -= 1
        return unit
    }
}
