import InletCore
import InletTesting
import Synchronization
import Testing

@testable import InletCapture

/// The packets at the start of a server's stream that are older than their arrival.
@Suite struct PacketBurstTests {
    private let clock = ManualClock()

    /// Keeps the packets it is offered.
    private final class Keeper: PacketReceiver {
        let id = SinkID(number: 1)
        let name = "keeper"
        let counters = SinkCounters()
        let ended = Completion<Void>()
        let isWatched = true
        let takesPackets = true
        let packets = Mutex<[EncodedPacket]>([])

        func begin(_ format: SourceFormat?, room: ProducerGate) {}
        func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool) {
            packets.withLock { $0.append(packet) }
        }
        func losePacket(_ reason: DropReason) {}
        func finish(_ error: InletError?) {}
        func close() {}
    }

    private func packet(_ milliseconds: Int, isKey: Bool) -> SourcePacket {
        let timeBase = Rational(1, 1000)
        let time = MediaTime(ticks: Int64(milliseconds), timeBase: timeBase)
        return SourcePacket(
            parameters: CodecParameters(codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: timeBase),
            data: PacketData([1, 2, 3]), pts: time, dts: time, flags: isKey ? .key : [])
    }

    /// Delivers packets of 25 pictures a second, each after a wait in milliseconds. Returns each packet's distance from
    /// the first on the capture timeline, in milliseconds.
    ///
    /// - Parameters:
    ///   - steps: additional distances of packets by their own times, by their numbers, in milliseconds.
    ///   - ends: whether the session ends after the last packet.
    private func times(
        _ waits: [Int], container: String?, steps: [Int: Int] = [:], ends: Bool = false
    ) throws -> [Double] {
        let keeper = Keeper()
        let dispatcher = FrameDispatcher(
            clock: clock, counters: SessionCounters(), limits: .init(), keepsLastFrame: false, receivers: { [keeper] })
        var format = ScriptedSource.format(pacing: .live)
        format.container = container
        try #require(dispatcher.begin(1, format: format))
        for (index, wait) in waits.enumerated() {
            clock.advance(by: .milliseconds(wait))
            let packet = packet(index * 40 + (steps[index] ?? 0), isKey: index == 0)
            guard case .goOn = dispatcher.deliver(.packet(packet), from: 1, isCancelled: { false }) else { break }
        }
        if ends { dispatcher.deliverHeld(from: 1, isCancelled: { false }) }
        let now = clock.now
        return keeper.packets.withLock { packets in
            #expect(packets.allSatisfy { $0.captureTime <= now })
            let first = packets.first?.captureTime ?? now
            return packets.map { ($0.captureTime - first) / .milliseconds(1) }
        }
    }

    @Test(
        "A group that arrives at once lasts as long as its pictures, with and without a pause in it",
        arguments: [0, 90])
    func group(_ pause: Int) throws {
        // Two seconds at once, and then a second in real time.
        let waits = (0..<50).map { $0 == 20 ? pause : 0 } + Array(repeating: 40, count: 25)
        let times = try times(waits, container: "flv")
        try #require(times.count == 75)
        for (index, time) in times.enumerated() { #expect(abs(time - Double(index * 40)) < 1, "\(index): \(time)") }
    }

    @Test("Packets in real time keep their times")
    func live() throws {
        let times = try times(Array(repeating: 40, count: 50), container: "flv")
        try #require(times.count == 50)
        for (index, time) in times.enumerated() { #expect(abs(time - Double(index * 40)) < 1, "\(index): \(time)") }
    }

    @Test("A session that ends while packets are held delivers them")
    func end() throws {
        let times = try times(Array(repeating: 0, count: 50), container: "flv", ends: true)
        #expect(times.count == 50)
        #expect(times == times.sorted())
    }

    @Test("A first packet whose time is an hour earlier is not dated back")
    func senderStep() throws {
        let steps = Dictionary(uniqueKeysWithValues: (1..<20).map { ($0, 3_600_000) })
        let times = try times(Array(repeating: 40, count: 20), container: "flv", steps: steps)
        try #require(times.count == 20)
        #expect((times.last ?? .infinity) < 1000, "\(times)")
    }

    @Test("Packets of other sources are delivered at once")
    func others() throws {
        #expect(try times([0], container: "rtsp").count == 1)
        #expect(try times([0, 40], container: nil).count == 2)
        #expect(try times([0], container: "flv").isEmpty)
    }

    @Test("The number of held packets is bounded, and a packet without a time ends the hold")
    func bounds() {
        var burst = PacketBurst()
        var count = 0
        while count < 10_000, burst.add(packet(count, isKey: count == 0), at: clock.now) == nil { count += 1 }
        #expect(count == 4095)
        burst = PacketBurst()
        #expect(burst.add(packet(0, isKey: true), at: clock.now) == nil)
        #expect(burst.add(packet(31_000, isKey: false), at: clock.now)?.count == 2)
        burst = PacketBurst()
        var untimed = packet(0, isKey: true)
        (untimed.pts, untimed.dts) = (nil, nil)
        #expect(burst.add(untimed, at: clock.now)?.count == 1)
        burst = PacketBurst()
        #expect(burst.add(packet(100, isKey: true), at: clock.now) == nil)
        #expect(burst.add(packet(50, isKey: false), at: clock.now)?.count == 2)
    }
}
