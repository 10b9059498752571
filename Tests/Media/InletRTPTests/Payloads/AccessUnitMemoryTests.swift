import InletCore
import InletRTP
import Testing

/// The memory that units hold while their consumers keep them.
@Suite struct AccessUnitMemoryTests {
    /// RFC 7741, sections 4.2 and 4.3: a picture of VP8 in packets of 60 kB, which work as well as smaller ones here.
    private static func packets(_ size: Int, isKey: Bool, timestamp: UInt32) -> [TestPacket] {
        let head: [UInt8] = isKey ? [0x10, 2, 0, 0x9D, 1, 0x2A, 0, 15, 0x70, 8] : [0x11, 2, 0]
        let frame = head + [UInt8](repeating: 0xAB, count: size - head.count)
        return stride(from: 0, to: size, by: 60_000).map { start in
            let end = min(start + 60_000, size)
            return TestPacket(
                payload: [start == 0 ? 0x10 : 0] + frame[start..<end], timestamp: timestamp, hasMarker: end == size)
        }
    }

    /// A stream of 3840x2160: key frames of 2 MB, of which each is followed by 59 pictures of 10 to 40 kB.
    private static func stream(_ pictures: Int) -> (sizes: [Int], packets: [[TestPacket]]) {
        var random = SplitMix64(seed: 1)
        let sizes = (0..<pictures).map { $0 % 60 == 0 ? 2_000_000 : 10_000 + Int(random.fraction() * 30_000) }
        let packets = sizes.enumerated().map {
            Self.packets($1, isKey: $0 % 60 == 0, timestamp: UInt32($0) &* 3000)
        }
        return (sizes, packets)
    }

    @Test(
        "Consumers that hold many units hold little more memory than the units have bytes", arguments: [16, 128, 600])
    func held(count: Int) {
        let (sizes, packets) = Self.stream(900)
        var settings = DepacketizerSettings()
        settings.poolSize = 512 << 20
        settings.poolUnits = 8192
        let joiner = Depacketizer(.vp8, settings: settings)
        var held: [AccessUnit] = []
        var most = 0.0
        for (index, picture) in packets.enumerated() {
            for packet in picture { held += joiner.receive(packet) }
            if held.count > count { held.removeFirst(held.count - count) }
            #expect(held.last?.data.count == sizes[index])
            guard index >= 300 else { continue }
            let bytes = held.reduce(0) { $0 + $1.data.count }
            // Idle memory of three units of the largest size.
            most = max(most, Double(joiner.memory - 3 * 2_500_000) / Double(bytes))
        }
        #expect(most < 2, "\(most) times the bytes")
        #expect(joiner.statistics.units == 900 && joiner.statistics.noMemory == 0)
    }

    @Test("Nothing is allocated for each unit once the sizes are known")
    func steady() {
        let joiner = Depacketizer(.vp8)
        let packets = Self.stream(1200).packets
        var before = 0
        for (index, picture) in packets.enumerated() {
            for packet in picture { _ = joiner.receive(packet) }
            if index == 600 { before = joiner.allocations }
        }
        #expect(joiner.allocations - before <= 20)
    }
}
