import InletCore
import InletRTP
import InletRTSP
import Testing

@testable import RTSPSource

/// The parsing of a channel's bytes by an RTSP connection.
@Suite struct RTSPConnectionTests {
    /// A channel that has received some bytes, a part at each read.
    private final class Received: ByteChannel {
        private var parts: [[UInt8]]
        init(_ parts: [[UInt8]]) { self.parts = parts }

        var descriptor: Int32 { -1 }
        var wantsOutput: Bool { false }
        var canSend: Bool { true }
        var hasBuffered: Bool { false }
        func flush() {}
        @unsafe func write(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.count }

        @unsafe func read(into target: UnsafeMutableRawBufferPointer) -> ReadOutcome {
            guard !parts.isEmpty else { return .ended }
            let part = parts.removeFirst()
            unsafe target.copyBytes(from: part)
            return .bytes(part.count)
        }
    }

    /// An interleaved RTP packet of the channel 0, with the sequence number in its payload, too.
    private func frame(_ number: UInt8) -> [UInt8] {
        let packet: [UInt8] = [0x80, 96, 0, number, 0, 0, 0, 0, 1, 2, 3, 4] + [UInt8](repeating: number, count: 200)
        return [0x24, 0, UInt8(packet.count >> 8), UInt8(packet.count & 0xFF)] + packet
    }

    /// The sequence numbers of the accepted packets, and the number of gaps.
    private func packets(_ parts: [[UInt8]]) throws -> (numbers: [UInt8], gaps: Int) {
        let connection = RTSPConnection(Received(parts))
        connection.parser.settings.knownChannels = [0, 1]
        connection.parser.settings.knownPayloadTypes = [96]
        var (numbers, gaps): ([UInt8], Int) = ([], 0)
        while try connection.read() {
            while let event = try connection.next({ _, packet, _ in numbers.append(packet[3]) }) {
                if case .gap(_) = event { gaps += 1 }
            }
        }
        return (numbers, gaps)
    }

    @Test("A packet with missing bytes is refused, and so are the bytes it swallowed", arguments: [2, 5, 16, 100, 199])
    func cut(_ missing: Int) throws {
        let bytes = frame(1) + frame(2).dropLast(missing) + frame(3) + frame(4) + frame(5)
        let found = try packets([bytes])
        #expect(found.numbers == [1, 4, 5] && found.gaps == 1, "\(found)")
    }

    @Test("Garbage after a complete packet costs no packet")
    func garbage() throws {
        let found = try packets([frame(1) + [UInt8](repeating: 0xEE, count: 30) + frame(2) + [0x0D, 0x0A] + frame(3)])
        #expect(found.numbers == [1, 2, 3] && found.gaps == 1, "\(found)")
    }

    @Test("A packet is accepted before a byte after it has arrived")
    func eager() throws {
        let connection = RTSPConnection(Received([frame(1)]))
        connection.parser.settings.knownChannels = [0, 1]
        #expect(try connection.read())
        var hasMore: Bool?
        _ = try connection.next { _, _, more in hasMore = more }
        #expect(hasMore == false)
    }
}
