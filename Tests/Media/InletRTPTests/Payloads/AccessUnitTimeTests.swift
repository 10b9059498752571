import InletCore
import InletRTP
import Testing

/// The arrival times of a unit's packets. A receiver that waits for a late packet delivers the others after it,
/// although they arrived earlier.
@Suite struct AccessUnitTimeTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test(
        "A unit arrives with the first and the last of its packets, in whatever order they arrive",
        arguments: [[10, 20, 30], [30, 10, 20], [20, 30, 10], [30, 20, 10]] as [[Int64]])
    func reordered(times: [Int64]) throws {
        // RFC 6184, section 5.8: a slice of an IDR picture in three fragments.
        let payloads: [[UInt8]] = [[0x7C, 0x85, 0x88, 0x84], [0x7C, 0x05, 1, 2], [0x7C, 0x45, 3, 4]]
        let joiner = Depacketizer.trusting()
        var units: [AccessUnit] = []
        for (payload, time) in zip(payloads, times) {
            let packet = TestPacket(payload: payload, timestamp: 9000, hasMarker: payload == payloads.last)
            units += joiner.receive(packet, at: Self.time(time))
        }
        let unit = try #require(units.first)
        #expect(unit.firstArrival == Self.time(10))
        #expect(unit.lastArrival == Self.time(30))
    }

    @Test("The next unit does not begin before its own first packet")
    func next() {
        let joiner = Depacketizer(.vp8)
        // RFC 7741, section 4.2: a descriptor with S set, and the frame header of a key frame.
        let payload: [UInt8] = [0x10, 0x10, 2, 0, 0x9D, 1, 0x2A, 0x10, 0, 0x10, 0]
        let packets = [(9000, 40), (18_000, 20), (27_000, 60)].map { timestamp, time in
            (TestPacket(payload: payload, timestamp: UInt32(timestamp), hasMarker: true), Self.time(Int64(time)))
        }
        let units = packets.flatMap { joiner.receive($0.0, at: $0.1) }
        #expect(units.map(\.firstArrival) == packets.map(\.1))
        #expect(units.map(\.lastArrival) == packets.map(\.1))
    }
}
