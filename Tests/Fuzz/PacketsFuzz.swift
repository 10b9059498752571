import InletCore
import InletRTP

// The packets of a stream: reception, depacketizers of every format, and the timeline.
//
// Input: a byte that selects the format, a byte of flags, and packets. Each packet has a byte that selects an event
// before it, a byte of time, the length of its payload, and its payload. Its header is that of the previous packet,
// incremented, or its own.

private let formats: [RTPPayloadFormat] = [
    .h264, .h265(usesDONL: false), .h265(usesDONL: true), .jpeg, .av1, .vp8, .vp9, .mpeg4Visual, .transportStream,
]

/// Reads the packets of a stream, and checks the promises.
private final class Reader {
    static let maximumSize = 3000
    static let maximumNALs = 20
    static let poolSize = 64 * 1024
    static let poolUnits = 6
    static let clockRate = 90_000
    /// The maximum bytes of parameter sets that a depacketizer keeps, with start codes of at most 48 sets.
    static let largestSets = 128 * 1024 + 4 * 48

    var receiver: RTPReceiver
    let depacketizer: Depacketizer
    var timeline = RTPTimeline(clockRate: clockRate)
    let isOrdered: Bool
    var now = MonotonicTime(nanoseconds: 5_000_000_000)
    var lastSequence: UInt16?
    var newestTicks: Int64?
    var held: [AccessUnit] = []
    var hasMore = false
    /// The bytes of parameter sets that may precede the next picture, beyond its own limit.
    var sets = 100

    init(_ format: RTPPayloadFormat, flags: UInt8) {
        isOrdered = flags & 1 != 0
        var reception = RTPReceiver.Settings()
        reception.isOrdered = isOrdered
        if flags & 2 != 0 { reception.payloadTypes = [96] }
        if flags & 4 != 0 { reception.expectedSSRC = 7 }
        if flags & 8 != 0 { reception.refusesForeignSSRC = true }
        if flags & 16 != 0 { (reception.maximumHeldPackets, reception.maximumHeldBytes) = (16, 500) }
        receiver = RTPReceiver(reception)
        var settings = DepacketizerSettings()
        (settings.maximumSize, settings.maximumNALs) = (Self.maximumSize, Self.maximumNALs)
        (settings.poolSize, settings.poolUnits) = (Self.poolSize, Self.poolUnits)
        settings.damage = flags & 32 != 0 ? .pass : .drop
        if flags & 64 != 0 {
            settings.parameterSets = [[0x67, 0x42, 0, 0x1E, 0xAB, 0x40, 0x50, 0x1E, 0xC8], [0x68, 0xCE, 0x38, 0x80]]
            settings.jpegSize = ImageSize(width: 2560, height: 1440)
        }
        depacketizer = Depacketizer(format, settings: settings)
    }

    func receive(_ packet: [UInt8]) {
        unsafe receiver.receive(packet.span.bytes, at: now) { received, bytes in take(received, bytes) }
        check()
    }

    /// Performs the due actions, as often as the caller's loop does.
    func wait(until time: MonotonicTime) {
        now = time
        if let deadline = receiver.deadline, deadline <= now {
            receiver.release(at: now) { received, bytes in take(received, bytes) }
            demand(receiver.deadline.map { $0 > now } ?? true, "the receiver's deadline does not advance")
        }
        if let deadline = depacketizer.quietDeadline, deadline <= now {
            depacketizer.tick(at: now)
            demand(depacketizer.quietDeadline.map { $0 > now } ?? true, "the quiet time does not advance")
        }
        check()
    }

    func reset() {
        receiver.reset()
        depacketizer.restart()
        timeline.breakOff()
        lastSequence = nil
    }

    private func take(_ packet: ReceivedPacket, _ bytes: RawSpan) {
        let header = packet.header
        demand(header.payload.upperBound <= bytes.byteCount, "a payload beyond its packet")
        demand(packet.arrival <= now, "a packet of the future")
        if packet.isRestart {
            depacketizer.restart()
            timeline.breakOff()
        } else if let lastSequence {
            let expected = lastSequence &+ 1 &+ UInt16(truncatingIfNeeded: packet.lostBefore)
            demand(header.sequence == expected, "\(header.sequence) after \(lastSequence), \(packet.lostBefore) lost")
        }
        lastSequence = header.sequence
        _ = ONVIFReplayExtension(header, of: bytes)
        depacketizer.add(header, bytes, lostBefore: packet.lostBefore, at: packet.arrival, hasMore: hasMore)
        takeUnits()
    }

    private func takeUnits() {
        let before = sets
        // A configuration from the session description, or the index of VP9, is below a hundred bytes.
        let now = depacketizer.parameterSets.count + 100
        sets = max(before, now)
        defer { sets = now }
        while let unit = depacketizer.takeUnit() {
            demand(unit.data.count > 0, "a unit of no bytes")
            demand(unit.data.count <= Self.maximumSize + sets, "a unit of \(unit.data.count) bytes")
            demand(unit.firstArrival <= unit.lastArrival, "a unit that ends before it begins")
            demand(!unit.isDamaged || depacketizerPasses, "a damaged unit")
            place(unit)
            held.append(unit)
        }
    }

    var depacketizerPasses = false

    private func place(_ unit: AccessUnit) {
        let placement = timeline.place(unit.timestamp, arrival: unit.lastArrival)
        if let newestTicks {
            let step = placement.ticks - newestTicks
            demand(step >= -5 * Int64(Self.clockRate), "a time \(-step) ticks back")
            demand(!placement.isRestamped && !placement.isDiscontinuity || step > 0, "a new time in the past")
        }
        newestTicks = max(newestTicks ?? placement.ticks, placement.ticks)
    }

    private func check() {
        takeUnits()
        demand(!isOrdered || receiver.deadline == nil, "something waits although nothing can come late")
        demand(depacketizer.memory <= Self.poolSize, "\(depacketizer.memory) bytes of memory")
        demand(held.count <= Self.poolUnits, "\(held.count) units")
    }

    func end() {
        wait(until: now + .seconds(2))
        demand(receiver.deadline == nil, "packets wait for ever")
        depacketizer.end()
        check()
        demand(receiver.statistics.received >= 0 && receiver.jitter <= .max, "a negative count")
        var receiver = receiver
        _ = receiver.receptionReport(at: now)
        demand(depacketizer.parameterSets.count <= Self.largestSets, "unbounded parameter sets")
    }
}

/// Makes the packets of an input.
private struct Sender {
    var sequence: UInt16 = 0xFFF0
    var timestamp: UInt32 = 0xFFFF_0000
    var ssrc: UInt32 = 7

    mutating func packet(_ input: inout FuzzInput) -> [UInt8] {
        let kind = input.byte()
        let count = min(input.number16(), 2000)
        // A complete packet with its header.
        if kind & 0x0F == 0x0F { return input.piece(count) }
        switch kind & 7 {
        case 1: timestamp &+= 3000
        case 2: (sequence, timestamp) = (sequence &+ UInt16(input.byte() & 7), timestamp &+ 3000)
        case 3: sequence &-= UInt16(input.byte() & 31)
        case 4: (sequence, timestamp) = (UInt16(truncatingIfNeeded: input.number16()), input.number32())
        case 5: ssrc ^= 1
        case 6: timestamp &+= UInt32(input.byte()) << 20
        default: break
        }
        sequence &+= 1
        let hasMarker = kind & 0x80 != 0
        var packet: [UInt8] = [kind & 0x40 == 0 ? 0x80 : 0x90, (hasMarker ? 0x80 : 0) | 96]
        for number in [UInt32(sequence), timestamp, ssrc] {
            for shift in stride(from: UInt32(24), through: 0, by: -8) {
                packet.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        packet.removeSubrange(2..<4)
        // The header extension, including its length, comes from the input.
        return packet + input.piece(count)
    }
}

/// Reads one input. Called by libFuzzer.
@c(LLVMFuzzerTestOneInput)
public func fuzzPackets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    let format = formats[Int(input.byte()) % formats.count]
    let flags = input.byte()
    let reader = Reader(format, flags: flags)
    reader.depacketizerPasses = flags & 32 != 0
    var sender = Sender()
    while !input.isAtEnd {
        let before = input.byte()
        reader.hasMore = before & 1 != 0
        if before & 2 != 0 { reader.wait(until: reader.now + .milliseconds(Int(input.byte()))) }
        if before & 4 != 0 { reader.wait(until: reader.now + .microseconds(Int(input.byte()) << 2)) }
        if before & 0xF8 == 0xF8 { reader.reset() }
        // One consumer keeps units, another does not.
        if before & 0x30 != 0x30 { reader.held = [] }
        reader.receive(sender.packet(&input))
    }
    reader.held = []
    reader.end()
    return 0
}
