import InletCore
import InletTesting
import Logging
import Testing

@testable import InletDecode

/// Pictures that a decoder holds back to put them in order, when decoding starts over.
@Suite struct HeldPicturesTests {
    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 1000))

    private final class Run {
        let clock = ManualClock()
        let context: SourceContext
        private let stage: DecodeStage
        private let start: MonotonicTime
        private(set) var pictures = 0
        private(set) var packets = 0

        init(delay: Int = 2) throws {
            start = clock.now
            context = SourceContext(clock: clock, logger: Logger(label: "test"))
            let format = SourceFormat(
                size: parameters.size, pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live)
            var settings = DecodingSettings([
                DecoderPlugin("plain", summary: "") { DelayingDecoder(parameters.size, delay: delay, reorderDepth: 2) }
            ])
            settings.maximumLag = .milliseconds(150)
            stage = try DecodeStage(PacketStream(parameters), of: format, settings, context)
        }

        /// Attaches a sink for which the source waits, and detaches it.
        func attachLosslessSink() {
            for isLossless in [true, false] {
                var demand = SourceDemand.everything
                (demand.isLossless, demand.packets) = (isLossless, false)
                context.setDemand(demand)
                stage.followDemand(context)
            }
        }

        /// Takes a packet that arrived at a time, in milliseconds since the clock's start.
        func put(_ time: Int64, at now: Int64, _ flags: PacketFlags = []) throws {
            clock.advance(by: max(.zero, start + .milliseconds(now) - clock.now))
            let pts = MediaTime(ticks: time, timeBase: parameters.timeBase)
            var packet = SourcePacket(
                parameters: parameters, data: PacketData([0, 0, 1, 0x65]), pts: pts, dts: pts, flags: flags)
            packet.receiveTime = start + .milliseconds(time)
            packets += 1
            try stage.put(packet, context)
            while true {
                switch try stage.take(context) {
                case .item: pictures += 1
                case .keptBack: continue
                case .needsPacket, .ended: return
                }
            }
        }
    }

    @Test("Pictures that the decoder held back also count as late when a late group is skipped")
    func late() throws {
        let run = try Run()
        for time in stride(from: 0 as Int64, to: 2000, by: 40) {
            try run.put(time, at: time, time % 1000 == 0 ? .key : [])
        }
        #expect(run.pictures == run.packets - 2)
        // A burst is decoded, and its picture is too late; packets that are late again soon after it are not decoded.
        try run.put(2040, at: 2600)
        try run.put(2080, at: 3000)
        #expect(run.context.dropCounts == [.late: 2])
        try run.put(3040, at: 3040, .key)
        for time in stride(from: 3080 as Int64, to: 3400, by: 40) { try run.put(time, at: time) }
        #expect(run.context.dropCounts == [.late: 4])
        #expect(run.pictures + 4 + 2 == run.packets)
    }

    @Test("The decoder's wait for later packets to reorder pictures does not count as lag")
    func reordering() throws {
        let run = try Run()
        for time in stride(from: 0 as Int64, to: 8000, by: 200) { try run.put(time, at: time, time == 0 ? .key : []) }
        #expect(run.context.dropCounts == [:])
        #expect(run.pictures == run.packets - 2)
    }

    @Test("The decoder's wait while it holds more pictures than it needs counts as lag", arguments: [5, 6])
    func holding(delay: Int) throws {
        let run = try Run(delay: delay)
        for time in stride(from: 0 as Int64, to: 800, by: 40) { try run.put(time, at: time, time == 0 ? .key : []) }
        // 120 ms and 160 ms of a limit of 150 ms. The first picture is shown in any case.
        let held = run.packets - delay
        #expect(run.context.dropCounts == (delay == 5 ? [:] : [.late: UInt64(held - 1)]))
        #expect(run.pictures == (delay == 5 ? held : 1))
    }

    @Test("Packets that refer to skipped ones stay out when a lossless sink comes and goes")
    func demand() throws {
        let run = try Run()
        for time in stride(from: 0 as Int64, to: 2000, by: 40) {
            try run.put(time, at: time, time % 1000 == 0 ? .key : [])
        }
        try run.put(2040, at: 2600)
        try run.put(2080, at: 3000)
        #expect(run.context.dropCounts == [.late: 2])
        let pictures = run.pictures
        run.attachLosslessSink()
        try run.put(2120, at: 3010)
        try run.put(3020, at: 3020)
        #expect(run.context.dropCounts == [.late: 4] && run.pictures == pictures)
        try run.put(3040, at: 3040, .key)
        for time in stride(from: 3080 as Int64, to: 3400, by: 40) { try run.put(time, at: time) }
        #expect(run.pictures > pictures)
    }

    @Test("Pictures that the decoder held back count as damaged when a packet is lost")
    func damaged() throws {
        let run = try Run()
        for time in stride(from: 0 as Int64, to: 400, by: 40) { try run.put(time, at: time, time == 0 ? .key : []) }
        try run.put(440, at: 440, .loss)
        #expect(run.context.dropCounts == [.damaged: 3])
        try run.put(480, at: 480, .loss)
        #expect(run.context.dropCounts == [.damaged: 4])
        for time in stride(from: 520 as Int64, to: 800, by: 40) { try run.put(time, at: time, time == 520 ? .key : []) }
        #expect(run.pictures + 4 + 2 == run.packets)
    }
}
