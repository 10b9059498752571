import Foundation
import InletConvert
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// Sinks that return at once, which are consumed on the producer's thread.
@Suite(.blocking, .timeLimit(.minutes(2))) struct ImmediateSinkTests {
    /// The calls that the sink received.
    final class Record: Sendable {
        struct State {
            var threads: [ObjectIdentifier] = []
            var sequences: [UInt64] = []
            var finishes = 0
            var conditions = 0
            /// Whether the sink throws when it gets a frame.
            var hasFailed = false
        }
        let state = Mutex(State())
        /// How many calls are within the sink.
        let inside = Atomic(0)
        let overlaps = Atomic(0)

        func call<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
            if inside.add(1, ordering: .acquiringAndReleasing).oldValue != 0 { overlaps.add(1, ordering: .relaxed) }
            defer { inside.subtract(1, ordering: .acquiringAndReleasing) }
            return state.withLock { body(&$0) }
        }
    }

    private final class Sink: FrameSink {
        let record: Record
        let consumesAtOnce: Bool

        init(_ record: Record, consumesAtOnce: Bool = true) {
            (self.record, self.consumesAtOnce) = (record, consumesAtOnce)
        }

        func consume(_ frame: VideoFrame) throws {
            let hasFailed = record.call {
                $0.threads.append(ObjectIdentifier(Thread.current))
                $0.sequences.append(frame.sequence)
                return $0.hasFailed
            }
            if hasFailed { throw POSIXError(.EIO) }
        }
        func sourceChanged(to condition: SourceCondition) { record.call { $0.conditions += 1 } }
        func finish() { record.call { $0.finishes += 1 } }
    }

    private static func delivery(
        _ record: Record, consumesAtOnce: Bool = true, wants: SinkWants? = nil
    ) -> SinkDelivery {
        let conversion = ConversionContext(
            converter: FrameConverter(), pool: I420BufferPool(capacity: 4), scalingPool: I420BufferPool(capacity: 4)
        ) {}
        let delivery = SinkDelivery(
            id: SinkID(number: 1), name: "sink", sink: Sink(record, consumesAtOnce: consumesAtOnce), wants: wants,
            policy: .buffered(8, dropping: .oldest),
            context: DeliveryContext(clock: SystemClock(), conversion: conversion) { _, _ in })
        delivery.begin(ScriptedSource.format(), room: ProducerGate())
        return delivery
    }

    private static func frame(_ number: UInt64) throws -> CapturedFrame {
        var draft = try I420Draft(size: ImageSize(width: 64, height: 48))
        draft.fillBlack()
        return CapturedFrame(
            SourceFrame(draft.publish(), pts: nil, sequence: number),
            timestamp: MonotonicTime(nanoseconds: Int64(number) * 1_000_000), stages: StageTimes())
    }

    /// A frame whose luma also serves as its chroma.
    private static func nv12(_ number: UInt64) throws -> CapturedFrame {
        var draft = try I420Draft(size: ImageSize(width: 64, height: 48))
        draft.fillBlack()
        let buffer = draft.publish()
        let luma = try #require(SourcePlanes(buffer)[0])
        var planes = SourcePlanes()
        planes.append(luma)
        planes.append(luma)
        let frame = SourceFrame(
            pixelFormat: .nv12, size: buffer.size, planes: planes, owner: buffer, pts: nil, sequence: number)
        return CapturedFrame(
            frame, timestamp: MonotonicTime(nanoseconds: Int64(number) * 1_000_000), stages: StageTimes())
    }

    private static func settled(_ delivery: SinkDelivery) -> UInt64 {
        let snapshot = delivery.counters.snapshot(id: delivery.id, name: "")
        return snapshot.delivered + snapshot.drops.values.reduce(0, +)
    }

    /// Offers frames, each when the one before is done with, until one was consumed on this thread.
    ///
    /// - Returns: the number of the next frame.
    private static func settle(_ delivery: SinkDelivery, _ record: Record) throws -> UInt64 {
        let this = ObjectIdentifier(Thread.current)
        var number: UInt64 = 0
        while record.state.withLock({ $0.threads.last }) != this, number < 10_000 {
            delivery.offer(try frame(number)) { false }
            number += 1
            let deadline = ContinuousClock.now + .seconds(30)
            while settled(delivery) < number, ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.001) }
        }
        return number
    }

    @Test("Frames that must be scaled or converted are consumed on the sink's thread, which does that work")
    func work() throws {
        for wants in [SinkWants(largestSize: ImageSize(width: 32, height: 24)), SinkWants()] {
            let record = Record()
            let delivery = Self.delivery(record, wants: wants)
            let isScaled = wants.largestSize != nil
            for number in 0..<50 as Range<UInt64> {
                let captured = isScaled ? try Self.frame(number) : try Self.nv12(number)
                delivery.offer(captured) { false }
                let deadline = ContinuousClock.now + .seconds(30)
                while Self.settled(delivery) <= number, ContinuousClock.now < deadline {
                    Thread.sleep(forTimeInterval: 0.001)
                }
            }
            let this = ObjectIdentifier(Thread.current)
            #expect(record.state.withLock { $0.sequences } == Array(0..<50))
            #expect(!record.state.withLock { $0.threads.contains(this) })
            delivery.close()
        }
    }

    /// ThreadSanitizer fails this test if the sink's thread accesses the worker after it found its mailbox empty.
    @Test("A sink that fails on the producer's thread ends once, while its own thread falls asleep")
    func failure() async throws {
        for _ in 0..<20 {
            let record = Record()
            let delivery = Self.delivery(record)
            let next = try Self.settle(delivery, record)
            record.state.withLock { $0.hasFailed = true }
            delivery.offer(try Self.frame(next)) { false }
            #expect(Self.settled(delivery) == next + 1)
            await delivery.ended.value()
            #expect(record.state.withLock { $0.finishes } == 1)
            #expect(record.overlaps.load(ordering: .relaxed) == 0)
        }
    }

    @Test("Once its thread has started it and sleeps, frames are consumed on the thread that offers them")
    func thread() throws {
        let record = Record()
        let delivery = Self.delivery(record)
        let next = try Self.settle(delivery, record)
        for number in next..<next + 20 { delivery.offer(try Self.frame(number)) { false } }
        let this = ObjectIdentifier(Thread.current)
        let threads = record.state.withLock { $0.threads }
        #expect(threads.suffix(21).allSatisfy { $0 == this })
        #expect(threads.first != this)
        #expect(Self.settled(delivery) == next + 20)

        // A frame that is only queued goes to the sink's thread, in its place.
        delivery.enqueue(try Self.frame(next + 20)) { false }
        delivery.offer(try Self.frame(next + 21)) { false }
        delivery.finish(nil)
        let deadline = ContinuousClock.now + .seconds(30)
        while record.state.withLock({ $0.finishes }) == 0, ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.001)
        }
        let state = record.state.withLock { $0 }
        #expect(state.finishes == 1)
        #expect(state.sequences == Array(0...next + 21))
        #expect(state.threads.last { _ in true } != nil)
        let snapshot = delivery.counters.snapshot(id: delivery.id, name: "")
        #expect(snapshot.delivered == next + 22 && snapshot.consumeTime.count == next + 22)
    }

    @Test("Others are never consumed on the thread that offers them")
    func others() throws {
        let record = Record()
        let delivery = Self.delivery(record, consumesAtOnce: false)
        for number in 0..<50 as Range<UInt64> {
            delivery.offer(try Self.frame(number)) { false }
            let deadline = ContinuousClock.now + .seconds(30)
            while Self.settled(delivery) <= number, ContinuousClock.now < deadline {
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        let this = ObjectIdentifier(Thread.current)
        #expect(record.state.withLock { $0.threads }.allSatisfy { $0 != this })
        delivery.close()
    }

    @Test("Frames beyond the wanted rate are dropped, and late ones are out of order, as those that are queued")
    func thinned() throws {
        let record = Record()
        // Frames are 1 ms apart.
        let delivery = Self.delivery(record, wants: SinkWants(maximumFrameRate: Rational(500)))
        for number in 0..<200 as Range<UInt64> {
            delivery.offer(try Self.frame(number)) { false }
            let deadline = ContinuousClock.now + .seconds(30)
            while Self.settled(delivery) <= number, ContinuousClock.now < deadline {
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        delivery.offer(try Self.frame(100)) { false }
        let drops = delivery.counters.snapshot(id: delivery.id, name: "").drops
        #expect(drops[.rateLimited].map { (95...105).contains($0) } == true)
        #expect(drops[.outOfOrder] == 1)
        delivery.close()
    }

    @Test("Whatever other threads queue, change and end meanwhile, calls never overlap and every frame is counted")
    func race() async throws {
        for round in 0..<20 {
            let record = Record()
            let delivery = Self.delivery(record)
            let offered = try await withThrowingTaskGroup(of: UInt64.self) { group in
                group.addTask {
                    for number in 0..<400 as Range<UInt64> { delivery.offer(try Self.frame(number * 2)) { false } }
                    return 400
                }
                group.addTask {
                    for number in 0..<100 as Range<UInt64> {
                        delivery.enqueue(try Self.frame(number * 8 + 1)) { false }
                        delivery.sourceChanged(to: number.isMultiple(of: 2) ? .interrupted : .live)
                    }
                    return 100
                }
                group.addTask {
                    for _ in 0..<50 { await Task.yield() }
                    if !round.isMultiple(of: 2) { delivery.close() }
                    return 0
                }
                return try await group.reduce(0, +)
            }
            delivery.finish(nil)
            await delivery.ended.value()
            #expect(record.overlaps.load(ordering: .relaxed) == 0)
            #expect(record.state.withLock { $0.finishes } <= 1)
            #expect(Self.settled(delivery) == offered, "round \(round)")
        }
    }
}
