import InletCore
import InletRTP

/// Makes RTP packets for tests and collects what a receiver delivers.
enum PacketScript {
    /// An RTP packet whose payload is its sequence number and some filling.
    static func packet(
        _ sequence: UInt16, timestamp: UInt32 = 0, ssrc: UInt32 = 0xBA9D_A416, type: UInt8 = 96, size: Int = 2
    ) -> [UInt8] {
        var bytes: [UInt8] = [0x80, type, UInt8(sequence >> 8), UInt8(sequence & 0xFF)]
        for number in [timestamp, ssrc] {
            bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        }
        bytes += [UInt8(sequence >> 8), UInt8(sequence & 0xFF)]
        return bytes + [UInt8](repeating: 0xAA, count: max(0, size - 2))
    }

    static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }
}

/// A receiver whose deliveries are collected. Each delivered packet must have the bytes that it arrived with.
struct ReceiverLog {
    var receiver: RTPReceiver
    var delivered: [ReceivedPacket] = []
    /// Whether every packet had its own bytes.
    var hasRightBytes = true

    init(_ change: (inout RTPReceiver.Settings) -> Void = { _ in }) {
        var settings = RTPReceiver.Settings()
        change(&settings)
        receiver = RTPReceiver(settings)
    }

    /// Passes a packet in and returns the sequence numbers delivered.
    @discardableResult
    mutating func receive(_ bytes: [UInt8], at milliseconds: Int64 = 0) -> [UInt16] {
        var batch = Batch()
        unsafe receiver.receive(bytes.span.bytes, at: PacketScript.time(milliseconds)) { batch.note($0, $1) }
        return take(batch)
    }

    @discardableResult
    mutating func receive(_ sequence: UInt16, timestamp: UInt32 = 0, at milliseconds: Int64 = 0) -> [UInt16] {
        receive(PacketScript.packet(sequence, timestamp: timestamp), at: milliseconds)
    }

    @discardableResult
    mutating func release(at milliseconds: Int64) -> [UInt16] {
        var batch = Batch()
        receiver.release(at: PacketScript.time(milliseconds)) { batch.note($0, $1) }
        return take(batch)
    }

    private mutating func take(_ batch: Batch) -> [UInt16] {
        delivered += batch.packets
        hasRightBytes = hasRightBytes && batch.hasRightBytes
        return batch.packets.map(\.header.sequence)
    }

    private struct Batch {
        var packets: [ReceivedPacket] = []
        var hasRightBytes = true

        mutating func note(_ packet: ReceivedPacket, _ bytes: RawSpan) {
            packets.append(packet)
            hasRightBytes = hasRightBytes && RTPHeader(bytes) == packet.header
            let start = packet.header.payload.lowerBound
            if packet.header.payload.count >= 2 {
                hasRightBytes = hasRightBytes && bytes.bigEndian16(at: start) == packet.header.sequence
            }
        }
    }
}
