import InletCore
import InletRTP
import Testing

/// The limit of a unit's size, for any sizes of the blocks of memory that hold it.
@Suite struct AccessUnitSizeTests {
    @Test(
        "A unit of the largest size is returned, one of a byte more is dropped",
        arguments: [1000, 4500, 5000, 8191, 8192, 8193])
    func limit(_ most: Int) {
        var settings = DepacketizerSettings()
        settings.maximumSize = most
        for size in [most, most + 1] {
            let joiner = Depacketizer(.vp8, settings: settings)
            // RFC 7741, sections 4.2 and 4.3: a descriptor with S set on the first packet, and a key frame's header.
            let frame = [0x10, 2, 0, 0x9D, 1, 0x2A, 0x10, 0, 0x10, 0] + [UInt8](repeating: 0xAB, count: size - 10)
            var units: [AccessUnit] = []
            for start in stride(from: 0, to: size, by: 700) {
                let end = min(start + 700, size)
                let payload = [start == 0 ? 0x10 : 0] + frame[start..<end]
                units += joiner.receive(TestPacket(payload: payload, timestamp: 9000, hasMarker: end == size))
            }
            #expect(units.map(\.bytes) == (size == most ? [frame] : []))
            #expect(joiner.statistics.tooLarge == (size == most ? 0 : 1))
        }
    }
}
