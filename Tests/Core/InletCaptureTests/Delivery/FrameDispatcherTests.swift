import InletConvert
import InletCore
import InletSystem
import InletTesting
import Synchronization
import Testing

@testable import InletCapture

/// Frames of consecutive sessions, and placeholders between them.
@Suite(.timeLimit(.minutes(10))) struct FrameDispatcherTests {
    private let clock = ManualClock()
    private static let live = ScriptedSource.format(pacing: .live)

    private func dispatcher(
        for receivers: [any SinkReceiver], counters: SessionCounters = SessionCounters(), keepsLastFrame: Bool = false
    ) -> FrameDispatcher {
        FrameDispatcher(
            clock: clock, counters: counters, limits: .init(), keepsLastFrame: keepsLastFrame,
            receivers: { receivers })
    }

    private func frame(_ number: UInt64, pts: Int64? = nil) throws
        -> SourceFrame
    {
        var draft = try I420Draft(size: ImageSize(width: 64, height: 48))
        draft.fillBlack()
        return SourceFrame(
            draft.publish(), pts: pts.map { MediaTime(ticks: $0, timeBase: Rational(1, 30)) }, sequence: number)
    }

    private func isTaken(_ result: FrameDispatcher.Result) -> Bool { if case .goOn = result { true } else { false } }

    @Test("An abandoned session that opens its source late takes nothing from the next session")
    func lateSession() throws {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: [receiver])
        #expect(dispatcher.begin(2, format: Self.live))
        #expect(!dispatcher.begin(1, format: Self.live))
        #expect(!dispatcher.begin(2, format: Self.live))
        #expect(isTaken(dispatcher.deliver(.frame(try frame(0)), from: 2) { false }))
        #expect(!isTaken(dispatcher.deliver(.frame(try frame(1)), from: 1) { false }))
        #expect(receiver.frames.count == 1)
        #expect(dispatcher.begin(3, format: Self.live))
        #expect(!isTaken(dispatcher.deliver(.frame(try frame(1)), from: 2) { false }))
    }

    @Test("Before a source has been open, only sinks with a fixed size get placeholders")
    func beforeTheFirstOpening() throws {
        let (any, sized) = (
            CollectingReceiver(), CollectingReceiver(wants: SinkWants(size: ImageSize(width: 32, height: 32)))
        )
        let dispatcher = dispatcher(for: [any, sized])
        dispatcher.offerPlaceholder(try frame(0), outageFrom: nil)
        #expect(any.frames.isEmpty && sized.frames.map(\.sequence) == [0])
        #expect(sized.formats == [nil])
        let format = ScriptedSource.format(pacing: .unpaced)
        #expect(dispatcher.begin(1, format: format))
        clock.advance(by: .milliseconds(1))
        #expect(isTaken(dispatcher.deliver(.frame(try frame(0, pts: 0)), from: 1) { false }))
        #expect(any.formats.last == format && sized.formats == [nil, format])
        #expect(any.frames.map(\.sequence) == [1] && sized.frames.map(\.sequence) == [0, 1])
        #expect(sized.frames[0].timestamp < sized.frames[1].timestamp)
        dispatcher.offerPlaceholder(try frame(0), outageFrom: nil)
        #expect(any.frames.count == 1, "a placeholder at the time of a frame")
        clock.advance(by: .milliseconds(1))
        dispatcher.offerPlaceholder(try frame(0), outageFrom: nil)
        #expect(any.frames.count == 2)
    }

    @Test("An unpaced source that lags behind the clock loses no frame to a placeholder", arguments: [0, 20])
    func unpacedAfterPlaceholder(before: Int) throws {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: [receiver])
        #expect(dispatcher.begin(1, format: ScriptedSource.format(pacing: .unpaced)))
        for number in 0..<before {
            #expect(
                isTaken(dispatcher.deliver(.frame(try frame(UInt64(number), pts: Int64(number))), from: 1) { false }))
        }
        // A minute later. The source's sinks took most of that time.
        clock.advance(by: .seconds(60))
        dispatcher.offerPlaceholder(try frame(0), outageFrom: nil)
        for number in before..<before + 10 {
            #expect(
                isTaken(dispatcher.deliver(.frame(try frame(UInt64(number), pts: Int64(number))), from: 1) { false }))
        }
        #expect(receiver.frames.count == before + 11)
        #expect(receiver.counters.snapshot(id: receiver.id, name: "").drops == [:])
        let times = receiver.frames.map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // The frames keep the spacing of their PTS.
        let steps = zip(times.suffix(10), times.suffix(9)).map { ($1 - $0).wholeNanoseconds }
        #expect(steps.allSatisfy { abs($0 - 33_333_333) <= 1 })
    }

    @Test("A frame after a pause of the source is later by the clock's time, though its PTS are not")
    func paused() throws {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: [receiver])
        #expect(dispatcher.begin(1, format: ScriptedSource.format(pacing: .realtime)))
        for number in 0..<10 as Range<UInt64> {
            clock.advance(by: .seconds(1) / 30)
            if number == 5 { clock.advance(by: .seconds(20)) }
            let isTaken = isTaken(
                dispatcher.deliver(
                    .frame(try frame(number, pts: Int64(number))), from: 1, startsAnew: number == 5,
                    isCancelled: { false }))
            #expect(isTaken)
            #expect(receiver.frames.last?.timestamp == clock.now)
        }
    }

    @Test(
        "Placeholders without room in a lossless queue are counted as such, and frames of a cancelled source are not"
    )
    func refusedPlaceholders() throws {
        let conversion = ConversionContext(
            converter: .init(), pool: I420BufferPool(capacity: 4), scalingPool: I420BufferPool(capacity: 4)
        ) {}
        let sequence = SequenceDelivery(
            id: SinkID(number: 1), wants: SinkWants(), policy: .lossless(1),
            context: DeliveryContext(clock: clock, conversion: conversion) { _, _ in })
        let dispatcher = dispatcher(for: [sequence])
        #expect(dispatcher.begin(1, format: Self.live))
        for _ in 0..<3 {
            clock.advance(by: .milliseconds(1))
            dispatcher.offerPlaceholder(try frame(0), outageFrom: nil)
        }
        clock.advance(by: .milliseconds(1))
        #expect(isTaken(dispatcher.deliver(.frame(try frame(0)), from: 1) { true }))
        #expect(sequence.counters.snapshot(id: sequence.id, name: "").drops == [.queueFull: 2, .cancelled: 1])
    }

    @Test("At the end the newest frame and the receivers are released, and no session takes over")
    func finish() throws {
        weak var lastBuffer: I420Buffer?
        weak var lastReceiver: CollectingReceiver?
        let receivers = ReceiverList()
        let dispatcher = FrameDispatcher(
            clock: clock, counters: SessionCounters(), limits: .init(), keepsLastFrame: true,
            receivers: { receivers.all })
        do {
            let receiver = CollectingReceiver()
            receivers.all = [receiver]
            lastReceiver = receiver
            #expect(dispatcher.begin(1, format: Self.live))
            let frame = try frame(0)
            lastBuffer = frame.owner as? I420Buffer
            #expect(isTaken(dispatcher.deliver(.frame(frame), from: 1) { false }))
            receivers.all = []
        }
        #expect(lastBuffer != nil && lastReceiver != nil)
        dispatcher.finish()
        #expect(lastBuffer == nil && lastReceiver == nil)
        #expect(!dispatcher.begin(2, format: Self.live))
        #expect(!isTaken(dispatcher.deliver(.frame(try frame(1)), from: 1) { false }))
    }

    @Test("A sink that blocks a frame delays no other session, no later placeholder, and not the end")
    func waitingSink() async throws {
        let gate = Gate()
        let (slow, quick) = (CollectingReceiver(gate: gate), CollectingReceiver())
        let receivers = ReceiverList()
        receivers.all = [slow]
        let dispatcher = FrameDispatcher(
            clock: clock, counters: SessionCounters(), limits: .init(), keepsLastFrame: false,
            receivers: { receivers.all })
        #expect(dispatcher.begin(1, format: Self.live))
        let producer = Completion<Bool>()
        let first = try frame(0)
        try SystemThread.start(named: "producer") {
            producer.resolve(self.isTaken(dispatcher.deliver(.frame(first), from: 1) { false }))
        }
        await gate.someoneWaits()
        clock.advance(by: .milliseconds(1))
        dispatcher.offerPlaceholder(try frame(0), outageFrom: nil)
        #expect(dispatcher.placeholders.load(ordering: .relaxed) == 0, "it would overtake the frame")

        // The thread is abandoned, and so is the sink.
        dispatcher.giveUp(1)
        receivers.all = [quick]
        dispatcher.receiversChanged()
        clock.advance(by: .milliseconds(1))
        dispatcher.offerPlaceholder(try frame(0), outageFrom: nil)
        #expect(dispatcher.placeholders.load(ordering: .relaxed) == 1)
        #expect(!isTaken(dispatcher.deliver(.frame(try frame(1)), from: 1) { false }))
        #expect(!dispatcher.begin(1, format: Self.live))
        #expect(dispatcher.begin(2, format: Self.live))
        clock.advance(by: .milliseconds(1))
        #expect(isTaken(dispatcher.deliver(.frame(try frame(0)), from: 2) { false }))
        #expect(quick.frames.count == 2)
        dispatcher.finish()
        gate.open()
        #expect(await producer.value())
    }

    @Test("Sequence numbers at their limit do not stop the run")
    func sequenceOverflow() throws {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: [receiver])
        #expect(dispatcher.begin(1, format: Self.live))
        #expect(isTaken(dispatcher.deliver(.frame(try frame(.max - 1)), from: 1) { false }))
        for _ in 0..<2 {
            clock.advance(by: .milliseconds(1))
            dispatcher.offerPlaceholder(try frame(0), outageFrom: nil)
        }
        #expect(receiver.frames.count == 3)
    }

    @Test(
        "The picture kept for outages is released without a lock, because its owner may use the capturer",
        arguments: [false, true])
    func releasesKeptPicture(_ isHandedOver: Bool) throws {
        let dispatcher = dispatcher(for: [], keepsLastFrame: true)
        #expect(dispatcher.begin(1, format: Self.live))
        let releases = Releases()
        func picture(_ number: UInt64) throws -> SourceFrame {
            var frame = try frame(number)
            frame.owner = releases.owner(of: frame.owner) { [weak dispatcher] in dispatcher?.lastPicture == nil }
            return frame
        }
        for number in 0..<4 as Range<UInt64> {
            if isHandedOver, number > 0 {
                #expect(dispatcher.handOver(try picture(number), from: 1))
            } else {
                #expect(isTaken(dispatcher.deliver(.frame(try picture(number)), from: 1) { false }))
            }
        }
        #expect(releases.wereLocked == [false, false, false])
        dispatcher.finish()
        #expect(releases.wereLocked == [false, false, false, false])
    }

    @Test("Only pictures of a live source that no receiver waits for are handed over")
    func handsOverLiveOnly() throws {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: [receiver])
        for (session, pacing) in [SourcePacing.unpaced, .realtime, .live].enumerated() {
            #expect(dispatcher.begin(session + 1, format: ScriptedSource.format(pacing: pacing)))
            #expect(try dispatcher.handOver(frame(0), from: session + 1) == (pacing == .live))
        }
        #expect(receiver.frames.count == 1)
    }
}

/// The owners of released pictures.
private final class Releases: Sendable {
    private let list = Mutex<[Bool]>([])

    /// Whether the dispatcher was locked, for each release.
    var wereLocked: [Bool] { list.withLock { $0 } }

    /// An owner that also keeps another one.
    func owner(of other: any AnyObject & Sendable, isLocked: @escaping @Sendable () -> Bool) -> Owner {
        Owner(other) {
            let isLocked = isLocked()
            self.list.withLock { $0.append(isLocked) }
        }
    }

    final class Owner: Sendable {
        private let other: any AnyObject & Sendable
        private let onRelease: @Sendable () -> Void

        init(_ other: any AnyObject & Sendable, onRelease: @escaping @Sendable () -> Void) {
            (self.other, self.onRelease) = (other, onRelease)
        }

        deinit { onRelease() }
    }
}

/// Receivers that change.
private final class ReceiverList: Sendable {
    private let list = Mutex<[any SinkReceiver]>([])
    var all: [any SinkReceiver] {
        get { list.withLock { $0 } }
        set { list.withLock { $0 = newValue } }
    }
}
