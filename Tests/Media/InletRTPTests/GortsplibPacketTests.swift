import Foundation
import InletCore
import InletRTP
import Testing

/// Packets that another fuzzer found to be harmful, in everything that reads packets.
@Suite struct GortsplibPacketTests {
    private static let time = MonotonicTime(nanoseconds: 1_000_000_000)

    private static func decoded(_ texts: [String]) throws -> [[UInt8]] {
        try texts.map { Array(try #require(Data(base64Encoded: $0))) }
    }

    /// Cuts a seed into its packets.
    private static func packets(_ seed: [UInt8]) -> [[UInt8]] {
        var (packets, rest) = ([[UInt8]](), seed[...])
        while rest.count >= 4 {
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            packets.append(Array(rest.dropFirst(4).prefix(count)))
            rest = rest.dropFirst(4).dropFirst(count)
        }
        return packets
    }

    @Test("Streams do no harm in any format", arguments: DepacketizerMutationTests.formats)
    func streams(_ format: RTPPayloadFormat) throws {
        for seed in try Self.decoded(GortsplibPackets.streams) {
            var receiver = RTPReceiver(RTPReceiver.Settings())
            var settings = DepacketizerSettings()
            settings.maximumSize = 10_000
            let depacketizer = Depacketizer(format, settings: settings)
            // Unchanged, and with the version that a packet needs to be read at all.
            for change in [0, 0x80] as [UInt8] {
                for (index, packet) in Self.packets(seed).enumerated() where !packet.isEmpty {
                    var packet = packet
                    if change != 0 { packet[0] = packet[0] & 0x3F | change }
                    let now = Self.time + .milliseconds(index)
                    unsafe receiver.receive(packet.span.bytes, at: now) { received, bytes in
                        depacketizer.add(
                            received.header, bytes, lostBefore: received.lostBefore, at: now, hasMore: false)
                    }
                }
                receiver.release(at: Self.time + .seconds(10)) { received, bytes in
                    depacketizer.add(
                        received.header, bytes, lostBefore: received.lostBefore, at: received.arrival, hasMore: false)
                }
                depacketizer.end()
                while let unit = depacketizer.takeUnit() { #expect(unit.data.count <= 20_000) }
            }
        }
    }

    @Test func reportsDoNoHarm() throws {
        for bytes in try Self.decoded(GortsplibPackets.streams + GortsplibPackets.reports) {
            for packet in [bytes] + Self.packets(bytes) {
                var items = 0
                unsafe RTCP.read(packet.span.bytes) { _ in items += 1 }
                #expect(items <= packet.count / 4)
            }
        }
    }
}
