import InletConvert
import InletCore
import InletSystem
import InletTesting
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// The path of the source's packets to one sink: the counts, and that nothing is left over.
@Suite(.timeLimit(.minutes(1))) struct PacketDeliveryTests {
    /// Makes scripted packet sinks, and records their calls.
    private final class Sinks: PacketSinkConfiguration {
        let redactedURI = "packets:"
        let write: @Sendable (EncodedPacket) throws -> Void
        let made = Atomic(0)
        let finished = Atomic(0)
        let written = Mutex([Int64]())

        init(_ write: @escaping @Sendable (EncodedPacket) throws -> Void = { _ in }) { self.write = write }

        func makeSink() -> any FrameSink { RecordingSink() }

        func makePacketSink() -> any PacketSink {
            made.add(1, ordering: .relaxed)
            return Sink(self)
        }

        private final class Sink: PacketSink {
            let sinks: Sinks
            init(_ sinks: Sinks) { self.sinks = sinks }
            func start(_ parameters: CodecParameters) {}
            func write(_ packet: EncodedPacket) throws {
                try sinks.write(packet)
                sinks.written.withLock { $0.append(packet.pts.ticks) }
            }
            func finish() { sinks.finished.add(1, ordering: .relaxed) }
        }
    }

    private struct Run {
        let sinks: Sinks
        let clock = ManualClock()
        let delivery: PacketDelivery
        let ends = Ends()
        let requests = Requests()

        final class Requests: Sendable {
            let count = Atomic(0)
        }

        final class Ends: Sendable {
            let all = Mutex([InletError?]())
        }

        init(_ sinks: Sinks, pacing: SourcePacing = .live, onFailure: SinkFailurePolicy = .detach) {
            self.sinks = sinks
            let conversion = ConversionContext(
                converter: FrameConverter(), pool: I420BufferPool(capacity: 1), scalingPool: I420BufferPool(capacity: 1)
            ) {}
            delivery = PacketDelivery(
                id: SinkID(number: 1), sinks, onFailure: onFailure,
                context: DeliveryContext(
                    clock: clock, conversion: conversion,
                    report: { [ends] _, event in
                        if case .ended(let error) = event { ends.all.withLock { $0.append(error) } }
                    }, requestKeyFrame: { [requests] in requests.count.add(1, ordering: .relaxed) }))
            var format = ScriptedSource.format(pacing: pacing)
            format.hasPackets = true
            delivery.begin(format, room: ProducerGate())
        }

        func offer(_ index: Int, isKey: Bool) {
            let time = MediaTime(ticks: Int64(index), timeBase: Rational(1, 30))
            let packet = EncodedPacket(
                data: PacketData([1]), pts: time, dts: time, isKey: isKey,
                captureTime: MonotonicTime(nanoseconds: Int64(index)))
            let parameters = CodecParameters(
                codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 30))
            delivery.offer(packet, of: parameters) { false }
        }

        var drops: [DropReason: UInt64] { delivery.counters.snapshot(id: delivery.id, name: "").drops }
        var delivered: UInt64 { delivery.counters.snapshot(id: delivery.id, name: "").delivered }
        var requested: Int { requests.count.load(ordering: .relaxed) }
        var settled: UInt64 { delivered + drops.values.reduce(0, +) }
    }

    /// Waits for a condition. The suite's time limit ends the wait.
    private func until(_ condition: @escaping @Sendable () -> Bool) async { await Waiting.until(condition) }

    @Test("Closing a blocked sink releases the source that waits for room in it")
    func closesWhileSourceWaits() async throws {
        let gate = Gate()
        let run = Run(Sinks { _ in gate.pass() }, pacing: .unpaced)
        let offered = Atomic(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            try SystemThread.start(named: "source") {
                for index in 0..<200 {
                    run.offer(index, isKey: index == 0)
                    offered.add(1, ordering: .relaxed)
                }
            }
            await gate.someoneWaits()
            // One packet is being written and the queue is full.
            await until { offered.load(ordering: .relaxed) >= 121 }
            run.delivery.close()
            await until { offered.load(ordering: .relaxed) == 200 }
            gate.open()
        }
        await run.delivery.ended.value()
        #expect(run.settled == 200)
        #expect(run.sinks.finished.load(ordering: .relaxed) == 1)
    }

    @Test("A closed sink has two seconds for the waiting packets; the rest is then dropped")
    func closesWithinGracePeriod() async {
        let gate = Gate()
        let run = Run(Sinks { _ in gate.pass() })
        for index in 0..<10 { run.offer(index, isKey: index == 0) }
        await gate.someoneWaits()
        run.delivery.close()
        #expect(await run.clock.timer(onQueue: "inlet.packet-deadline") == .seconds(2))
        // A second call does not extend the time.
        run.clock.advance(by: .seconds(1))
        run.delivery.close()
        gate.letThrough()
        await until { run.delivered == 1 }
        await gate.someoneWaits()
        #expect(run.drops == [:])
        await run.clock.run(for: .seconds(1))
        #expect(run.drops == [.cancelled: 8])
        gate.open()
        await run.delivery.ended.value()
        #expect(run.delivered == 2 && run.sinks.finished.load(ordering: .relaxed) == 1)
    }

    @Test("A sink without a key frame requests one from the source, once, and not if it begins with one")
    func requestsKeyFrame() async {
        let (early, late) = (Run(Sinks()), Run(Sinks()))
        for index in 0..<10 {
            early.offer(index, isKey: index == 0)
            late.offer(index, isKey: index == 5)
        }
        #expect(early.requested == 0 && late.requested == 1)
        // While packets are withheld, no key frame is requested until packets arrive again.
        late.delivery.losePacket(.disabled)
        #expect(late.requested == 1)
        for index in 10..<20 { late.offer(index, isKey: index == 15) }
        #expect(late.requested == 2)
        for run in [early, late] {
            run.delivery.finish(nil)
            await run.delivery.ended.value()
        }
        #expect(late.delivered == 10)
    }

    @Test("A packet that a sink refuses without a key frame counts as dropped, with all up to the key frame")
    func refused() async {
        let run = Run(Sinks { packet in if (3..<5).contains(packet.pts.ticks) { throw KeyFrameNeeded() } })
        for index in 0..<12 {
            run.offer(index, isKey: index % 8 == 0)
            await until { run.settled > index }
        }
        run.delivery.finish(nil)
        await run.delivery.ended.value()
        #expect(run.sinks.written.withLock { $0 } == [0, 1, 2, 8, 9, 10, 11])
        #expect(run.delivered == 7)
        #expect(run.drops.values.reduce(0, +) == 5)
        #expect(run.drops[.sinkFailed] == 1)
        #expect(run.ends.all.withLock { $0.count { $0 == nil } } == 1)
    }

    @Test("A sink that received nothing by the source's end is reported as failed, and one closed before is not")
    func gotNothing() async {
        let (empty, keyless, closed) = (Run(Sinks()), Run(Sinks()), Run(Sinks()))
        empty.delivery.finish(nil)
        keyless.offer(0, isKey: false)
        keyless.delivery.finish(nil)
        closed.delivery.close()
        for run in [empty, keyless, closed] { await run.delivery.ended.value() }
        for run in [empty, keyless] { #expect(run.ends.all.withLock { $0.map { $0?.code } } == [.unsupported]) }
        #expect(closed.ends.all.withLock { $0.map { $0?.code } } == [nil])
    }

    @Test("A source that comes back without packets ends the sink with an error, and its file is finished")
    func losesPackets() async {
        let run = Run(Sinks())
        run.offer(0, isKey: true)
        await until { run.settled == 1 }
        run.delivery.begin(ScriptedSource.format(pacing: .live), room: ProducerGate())
        await run.delivery.ended.value()
        #expect(run.sinks.finished.load(ordering: .relaxed) == 1)
        #expect(run.ends.all.withLock { $0 }.map { $0?.code } == [.unsupported])
    }

    @Test("A sink that fails while packets arrive is not restarted after its end")
    func failsWhilePacketsCome() async throws {
        for _ in 0..<100 {
            let run = Run(Sinks { _ in throw InletError(.disconnected, "The server is gone.") })
            let isOver = Atomic(false)
            try SystemThread.start(named: "source") {
                var index = 0
                while run.delivery.counters.isAttached.load(ordering: .relaxed) {
                    run.offer(index, isKey: true)
                    index += 1
                }
                for _ in 0..<10 { run.offer(index, isKey: true) }
                isOver.store(true, ordering: .releasing)
            }
            await run.delivery.ended.value()
            await until { isOver.load(ordering: .acquiring) }
            #expect(run.sinks.made.load(ordering: .relaxed) == 1)
            #expect(run.sinks.finished.load(ordering: .relaxed) == 1)
            #expect(run.ends.all.withLock { $0 }.map { $0?.code } == [.disconnected])
        }
    }

    @Test("A failed sink is restarted at the first key frame after its delay")
    func restarts() async {
        let fails = Atomic(true)
        var delay = RestartDelay()
        delay.first = .zero
        let run = Run(
            Sinks { _ in if fails.exchange(false, ordering: .relaxed) { throw InletError(.disconnected, "Gone.") } },
            onFailure: .restart(after: delay))
        run.offer(0, isKey: true)
        await until { run.sinks.finished.load(ordering: .relaxed) == 1 && run.settled == 1 }
        run.offer(1, isKey: false)
        run.offer(2, isKey: true)
        run.offer(3, isKey: false)
        run.delivery.finish(nil)
        await run.delivery.ended.value()
        #expect(run.sinks.made.load(ordering: .relaxed) == 2)
        #expect(run.sinks.written.withLock { $0 } == [2, 3])
    }
}
