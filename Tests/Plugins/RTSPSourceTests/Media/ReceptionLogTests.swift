import InletCore
import InletRTP
import InletTesting
import Testing

@testable import RTSPSource

/// A source's report about RTP packets, and about pictures that it drops before they are decoded.
@Suite struct ReceptionLogTests {
    private static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(milliseconds) * 1_000_000)
    }

    private static func stream(_ requests: RTCPWriter.KeyFrameRequests = []) -> MediaStream {
        var settings = DepacketizerSettings()
        settings.doubtsFirstMarker = false
        return MediaStream(
            .h264, RTPReceiver.Settings(), settings, requests: requests, at: time(0), hostTime: { 0 })
    }

    /// Takes one packet: a part of a picture in FU-A (RFC 6184, section 5.8), by its flags.
    private static func take(
        _ stream: MediaStream, _ sequence: UInt8, _ flags: UInt8, type: UInt8 = 5, picture: UInt8, at milliseconds: Int
    ) {
        let isLast = flags & 0x40 != 0
        let packet: [UInt8] =
            [0x80, isLast ? 0xE0 : 0x60, 0, sequence, 0, 0, picture, 0, 0, 0, 0, 1]
            + [0x7C, flags | type, 0x88, 0x84, sequence, 1]
        unsafe stream.take(packet.span.bytes, at: time(milliseconds), hasMore: false)
        while stream.takeUnit() != nil {}
    }

    @Test(
        "Lost, late, duplicate and reordered packets, and pictures dropped for them, are counted over all connections")
    func counts() {
        let context = SourceContext(clock: ManualClock(), logger: LogRecord().logger)
        var log = ReceptionLog()
        log.report(nil, to: context)
        #expect(context.reception == nil)
        for connection in UInt64(1)...2 {
            let stream = Self.stream()
            Self.take(stream, 0, 0x80, picture: 0, at: 0)
            Self.take(stream, 1, 0x40, picture: 0, at: 1)
            Self.take(stream, 1, 0x40, picture: 0, at: 2)
            // 3 is lost until it is too late; 5 arrives before 4.
            Self.take(stream, 2, 0x80, picture: 1, at: 40)
            Self.take(stream, 5, 0x40, picture: 2, at: 80)
            Self.take(stream, 4, 0x80, picture: 2, at: 81)
            stream.idle(at: Self.time(200))
            while stream.takeUnit() != nil {}
            Self.take(stream, 3, 0x40, picture: 1, at: 201)
            log.report(stream, to: context)
            log.report(stream, to: context)
            #expect(context.reception?.packets == connection * 5)
            #expect(context.reception?.packetsLost == connection)
            #expect(context.reception?.packetsLate == connection)
            #expect(context.reception?.packetsDuplicated == connection)
            #expect(context.reception?.packetsReordered == connection)
            #expect(context.dropCounts == [.damaged: connection])
        }
        log.report(nil, to: context)
        #expect(context.reception?.packets == 10)
    }

    @Test("A key frame soon after a request is its answer")
    func keyFrames() {
        let stream = Self.stream([.pictureLoss])
        var packet: [UInt8] = []
        // A picture that refers to one before the beginning.
        Self.take(stream, 0, 0x80, type: 1, picture: 0, at: 0)
        Self.take(stream, 1, 0x40, type: 1, picture: 0, at: 1)
        stream.control(at: Self.time(10), into: &packet)
        #expect(stream.figures.keyFrameRequests == 1 && stream.figures.keyFrameResponses == 0)
        Self.take(stream, 2, 0x80, picture: 1, at: 100)
        Self.take(stream, 3, 0x40, picture: 1, at: 150)
        #expect(stream.figures.keyFrameResponses == 1)
        #expect(stream.figures.keyFrameResponseTime == .milliseconds(140))
        stream.control(at: Self.time(5000), into: &packet)
        #expect(stream.figures.keyFrameRequests == 1)
    }

    @Test("A report before the first packet counts for the packets that follow")
    func earlyReport() throws {
        let stream = Self.stream()
        // RFC 3550, section 6.4.1: 1 second behind 2001 at the timestamp 0, of the source 1.
        var report: [UInt8] = [0x80, 200, 0, 6, 0, 0, 0, 1]
        let seconds = UInt32(978_307_201 + 2_208_988_800)
        report += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: seconds >> UInt32($0)) }
        report += [UInt8](repeating: 0, count: 16)
        unsafe stream.take(report.span.bytes, at: Self.time(0), hasMore: false)
        let packet: [UInt8] = [0x80, 0xE0, 0, 0, 0, 1, 0x5F, 0x90, 0, 0, 0, 1, 0x65, 0x88, 0x84, 1]
        unsafe stream.take(packet.span.bytes, at: Self.time(5), hasMore: false)
        let unit = try #require(stream.takeUnit())
        #expect(unit.wallClock == 978_307_202_000_000_000)
    }

    @Test("A recorder states a unit's time of day, whether decoding may start there, and gaps before it")
    func replay() throws {
        let stream = Self.stream()
        var units: [MediaStream.Unit] = []
        // ONVIF's flags: clean point, end of a section, none.
        for (index, flags) in ([0x80, 0x40, 0x00, 0x20] as [UInt8]).enumerated() {
            let number = UInt8(index)
            var packet: [UInt8] = [0x90, 0xE0, 0, number, 0, number, 0, 0, 0, 0, 0, 1, 0xAB, 0xAC, 0, 3]
            let seconds = UInt32(978_307_200 + 2_208_988_800) + UInt32(index) * 100
            packet += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: seconds >> UInt32($0)) }
            packet += [0, 0, 0, 0, flags, 0, 0, 0, 0x61, 0x9A, 0x84, number]
            unsafe stream.take(packet.span.bytes, at: Self.time(index * 40), hasMore: false)
            units.append(try #require(stream.takeUnit()))
        }
        #expect(units.map { $0.wallClock } == (0..<4).map { 978_307_200_000_000_000 + $0 * 100_000_000_000 })
        #expect(units.map(\.unit.isRecoveryPoint) == [true, false, false, false])
        #expect(units.map(\.unit.isAfterLoss) == [false, false, true, true])
    }
}
