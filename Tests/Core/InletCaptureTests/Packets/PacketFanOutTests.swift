import Dispatch
import InletCapture
import InletCore
import InletSystem
import InletTesting
import ReferenceTools
import Synchronization
import Testing

@Suite struct PacketFanOutTests {
    /// Records its packets, and waits at a gate if it has one.
    private final class Sink: PacketSink {
        let log: Log
        let gate: DispatchSemaphore?

        init(_ log: Log, gate: DispatchSemaphore? = nil) {
            self.log = log
            self.gate = gate
        }

        func start(_ parameters: CodecParameters) { log.add("start \(parameters.size)") }
        func write(_ packet: EncodedPacket) {
            gate?.wait()
            log.add((packet.isKey ? "K" : "p") + "\(packet.pts.ticks)")
        }
        func finish() { log.add("finish") }
    }

    private final class Log: Sendable {
        let lines = Mutex([String]())
        private let signal = DispatchSemaphore(value: 0)
        func add(_ line: String) {
            lines.withLock { $0.append(line) }
            signal.signal()
        }
        /// Blocks until this many lines were written.
        func wait(for count: Int) { for _ in 0..<count { signal.wait() } }
    }

    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 30))

    private static func packet(_ index: Int, key: Bool) -> EncodedPacket {
        let time = MediaTime(ticks: Int64(index), timeBase: Rational(1, 30))
        return EncodedPacket(
            data: PacketData([1, 2, 3]), pts: time, dts: time, isKey: key,
            captureTime: MonotonicTime(nanoseconds: Int64(index) * 33_333_333))
    }

    @Test("A slow sink drops up to a key frame and requests one, while another gets every packet")
    func slowSink() throws {
        let fanOut = PacketFanOut(keyFrameInterval: .zero)
        let (fast, slow) = (Log(), Log())
        let gate = DispatchSemaphore(value: 0)
        try fanOut.attach(Sink(fast), named: "fast")
        try fanOut.attach(Sink(slow, gate: gate), named: "slow", capacity: 4)
        fanOut.start(Self.parameters)
        slow.wait(for: 1)
        try fanOut.write(Self.packet(0, key: true))
        #expect(!fanOut.wantsKeyFrame)
        for index in 1...20 { try fanOut.write(Self.packet(index, key: false)) }
        // The queue is full and the slow sink is blocked: a key frame now would be dropped as well.
        #expect(!fanOut.wantsKeyFrame)
        // Its thread requests one when it takes the third of the waiting packets, whatever it had taken before.
        for _ in 0..<3 { gate.signal() }
        slow.wait(for: 3)
        gate.signal()
        slow.wait(for: 1)
        #expect(fanOut.wantsKeyFrame)
        try fanOut.write(Self.packet(21, key: false))
        try fanOut.write(Self.packet(22, key: true))
        #expect(!fanOut.wantsKeyFrame)
        try fanOut.write(Self.packet(23, key: false))
        for _ in 0..<30 { gate.signal() }
        try fanOut.finish()
        let expected = ["start 64x48", "K0"] + (1...21).map { "p\($0)" } + ["K22", "p23", "finish"]
        #expect(fast.lines.withLock { $0 } == expected)
        let seen = slow.lines.withLock { $0 }
        #expect(seen.suffix(3) == ["K22", "p23", "finish"])
        #expect(seen.count < 10)
        // The packets before the key frame are the beginning of the group, without a gap.
        #expect(seen.dropFirst(2).dropLast(3).enumerated().allSatisfy { $0.element == "p\($0.offset + 1)" })
    }

    @Test("A later sink begins with parameters and a key frame that it requested")
    func lateSink() throws {
        let fanOut = PacketFanOut(keyFrameInterval: .zero)
        let (first, second) = (Log(), Log())
        try fanOut.attach(Sink(first), named: "first")
        fanOut.start(Self.parameters)
        try fanOut.write(Self.packet(0, key: true))
        #expect(!fanOut.wantsKeyFrame)
        try fanOut.attach(Sink(second), named: "second")
        #expect(fanOut.wantsKeyFrame)
        try fanOut.write(Self.packet(1, key: false))
        try fanOut.write(Self.packet(2, key: true))
        try fanOut.finish()
        #expect(second.lines.withLock { $0 } == ["start 64x48", "K2", "finish"])
    }

    @Test("Sinks that are not ready in time are named; the others have finished", .timeLimit(.minutes(1)))
    func finishTimeout() async throws {
        let clock = ManualClock()
        let fanOut = PacketFanOut(finishTimeout: .seconds(3), clock: clock)
        let gate = DispatchSemaphore(value: 0)
        let (quick, stuck) = (Log(), Log())
        try fanOut.attach(Sink(quick), named: "quick")
        try fanOut.attach(Sink(stuck, gate: gate), named: "stuck")
        fanOut.start(Self.parameters)
        try fanOut.write(Self.packet(0, key: true))
        let (errors, continuation) = AsyncStream<InletError?>.makeStream()
        try SystemThread.start(named: "encoder") {
            do {
                try fanOut.finish()
                continuation.yield(nil)
            } catch {
                continuation.yield(error as? InletError)
            }
        }
        #expect(await clock.timer(onQueue: "inlet.fan-out-deadline") == .seconds(3))
        await Waiting.until { fanOut.figures.count <= 1 }
        clock.advance(by: .seconds(3))
        let error = await errors.first { _ in true } ?? nil
        #expect(error?.code == .timedOut && error?.message.hasPrefix("stuck did not take") == true)
        #expect(quick.lines.withLock { $0 } == ["start 64x48", "K0", "finish"])
        gate.signal()
    }

    @Test("A failed sink ends without the others, and the last one ends the fan-out with its error")
    func failure() throws {
        final class Failing: PacketSink {
            func start(_ parameters: CodecParameters) {}
            func write(_ packet: EncodedPacket) throws { throw InletError(.disconnected, "gone") }
        }
        let ended = DispatchSemaphore(value: 0)
        let detached = DispatchSemaphore(value: 0)
        let fanOut = PacketFanOut { _, _, error in
            if error?.code == .disconnected { ended.signal() } else { detached.signal() }
        }
        let log = Log()
        try fanOut.attach(Failing(), named: "failing")
        let other = try fanOut.attach(Sink(log), named: "other")
        fanOut.start(Self.parameters)
        try fanOut.write(Self.packet(0, key: true))
        ended.wait()
        try fanOut.write(Self.packet(1, key: false))
        log.wait(for: 3)
        fanOut.detach(other)
        log.wait(for: 1)
        detached.wait()
        #expect(throws: InletError.self) { try fanOut.write(Self.packet(2, key: false)) }
        #expect(log.lines.withLock { $0 } == ["start 64x48", "K0", "p1", "finish"])
    }
}
