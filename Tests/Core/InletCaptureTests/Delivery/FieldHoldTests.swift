import InletConvert
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// Interlaced pictures, which wait for the next one if they are deinterlaced.
@Suite(.timeLimit(.minutes(10))) struct FieldHoldTests {
    private let clock = ManualClock()
    private let plain = CollectingReceiver()
    private let filtering = CollectingReceiver(wants: deinterlaced())

    private static func deinterlaced(maximumFrameRate: Rational? = nil) -> SinkWants {
        var wants = SinkWants(maximumFrameRate: maximumFrameRate)
        wants.filters = .deinterlacing
        return wants
    }

    private func dispatcher(_ receivers: [any SinkReceiver]? = nil) -> FrameDispatcher {
        let receivers = receivers ?? [plain, filtering]
        let dispatcher = FrameDispatcher(
            clock: clock, counters: SessionCounters(), limits: .init(), keepsLastFrame: false,
            receivers: { receivers })
        #expect(dispatcher.begin(1, format: ScriptedSource.format(pacing: .live)))
        return dispatcher
    }

    private func frame(
        _ number: UInt64, _ order: FieldOrder = .topFirst, size: ImageSize = ImageSize(width: 64, height: 48)
    ) throws -> SourceFrame {
        var draft = try I420Draft(size: size)
        draft.fillBlack()
        var frame = SourceFrame(
            draft.publish(), pts: MediaTime(ticks: Int64(number), timeBase: Rational(1, 25)), sequence: number)
        frame.fieldOrder = order
        return frame
    }

    private func deliver(
        _ frame: SourceFrame, to dispatcher: FrameDispatcher, after step: Duration = .milliseconds(40)
    ) {
        clock.advance(by: step)
        guard case .goOn = dispatcher.deliver(.frame(frame), from: 1, isCancelled: { false }) else {
            Issue.record("not taken")
            return
        }
    }

    private var numbers: (plain: [UInt64], filtering: [UInt64]) {
        (plain.frames.map(\.sequence), filtering.frames.map(\.sequence))
    }

    /// The numbers of the pictures that filters get: the previous picture, the picture, and the next one.
    private func neighbours(_ captured: CapturedFrame) throws -> [UInt64?] {
        let seen = Mutex<[UInt64?]>([])
        let context = context(
            FilterPlugin("fake", summary: "") { _ in FakeFilter { numbers in seen.withLock { $0 = numbers } } })
        let adaptation = try captured.adaptation(to: filtering.wants, by: context.filtering)
        _ = try captured.videoFrame(adaptation, with: context)
        return seen.withLock { $0 }
    }

    private func context(_ plugins: FilterPlugin..., log: LogLines = LogLines()) -> ConversionContext {
        ConversionContext(
            converter: FrameConverter(), pool: I420BufferPool(capacity: 4), scalingPool: I420BufferPool(capacity: 4),
            filtering: PictureFiltering(
                plugins, source: "test:", logger: Logger(label: "test", factory: { _ in log }))
        ) {}
    }

    @Test("A picture is offered with the next one if it is deinterlaced, and at once to other sinks")
    func order() throws {
        let dispatcher = dispatcher()
        for number in 0..<4 as Range<UInt64> {
            deliver(try frame(number), to: dispatcher)
            #expect(numbers == (Array(0...number), Array(0..<number)))
        }
        deliver(try frame(4, .progressive), to: dispatcher)
        #expect(numbers == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]), "a progressive picture does not wait for the next one")
        let frames = filtering.frames
        #expect(try neighbours(frames[0]) == [nil, 0, 1])
        #expect(try neighbours(frames[1]) == [0, 1, 2])
        #expect(try neighbours(frames[3]) == [2, 3, 4])
        #expect(try neighbours(frames[4]) == [], "a progressive picture is not filtered")
        #expect(zip(frames, plain.frames).allSatisfy { $0 === $1 })
    }

    @Test("A picture stops waiting at the end of a session, before a pause, and after a session was abandoned")
    func ends() throws {
        let dispatcher = dispatcher()
        deliver(try frame(0), to: dispatcher)
        deliver(try frame(1), to: dispatcher)
        dispatcher.deliverHeldPicture(from: 1) { false }
        #expect(numbers.filtering == [0, 1])
        dispatcher.deliverHeldPicture(from: 1) { false }
        #expect(numbers.filtering == [0, 1])
        #expect(try neighbours(filtering.frames[1]) == [0, 1, nil])
        deliver(try frame(2), to: dispatcher)
        #expect(numbers.filtering == [0, 1])
        dispatcher.giveUp(1)
        dispatcher.deliverHeldPicture(from: 1) { false }
        #expect(numbers.filtering == [0, 1])
        dispatcher.finish()
        #expect(numbers == ([0, 1, 2], [0, 1, 2]))
        #expect(try neighbours(filtering.frames[2]) == [nil, 2, nil])
    }

    @Test("A waiting picture is delivered before a placeholder")
    func placeholder() throws {
        let dispatcher = dispatcher()
        deliver(try frame(0), to: dispatcher)
        clock.advance(by: .seconds(1))
        dispatcher.offerPlaceholder(try frame(0, .progressive), outageFrom: nil)
        #expect(numbers == ([0, 1], [0, 1]))
        #expect(filtering.frames.map(\.isPlaceholder) == [false, true])
        deliver(try frame(1), to: dispatcher)
        deliver(try frame(2), to: dispatcher)
        #expect(try neighbours(filtering.frames[2]) == [nil, 2, 3], "numbers continue after the placeholder")
    }

    @Test("Infrequent pictures do not wait, and are not combined")
    func seldom() throws {
        let slow = CollectingReceiver(wants: Self.deinterlaced(maximumFrameRate: Rational(1)))
        let dispatcher = dispatcher([slow, filtering])
        deliver(try frame(0), to: dispatcher)
        #expect(slow.frames.count == 1 && filtering.frames.isEmpty, "the first picture goes by the rate that is wanted")
        for number in 1..<4 as Range<UInt64> {
            deliver(try frame(number * 10), to: dispatcher, after: .milliseconds(400))
            #expect(slow.frames.count == Int(number) + 1 && filtering.frames.count == Int(number) + 1)
        }
        let expected = [0, 10, 20, 30].map { [nil, UInt64($0), nil] }
        #expect(try filtering.frames.map(neighbours) == expected)
    }

    @Test("Pictures before and after a change of size are not combined, nor are those around a cut")
    func cuts() throws {
        let dispatcher = dispatcher()
        deliver(try frame(0), to: dispatcher)
        deliver(try frame(1, size: ImageSize(width: 32, height: 32)), to: dispatcher)
        var cut = try frame(2, size: ImageSize(width: 32, height: 32))
        cut.flags = [.discontinuity]
        deliver(cut, to: dispatcher)
        dispatcher.deliverHeldPicture(from: 1) { false }
        #expect(try filtering.frames.map(neighbours) == [[nil, 0, nil], [nil, 1, nil], [nil, 2, nil]])
    }

    @Test("A waiting picture is not withheld while the track is disabled")
    func disabled() throws {
        let dispatcher = dispatcher()
        deliver(try frame(0), to: dispatcher)
        dispatcher.setDisabled(true)
        deliver(try frame(1), to: dispatcher)
        #expect(numbers == ([0], [0]))
    }

    @Test("A picture is filtered once for all sinks that want it, and states that it is progressive")
    func once() throws {
        let count = Atomic(0)
        let context = context(
            FilterPlugin("fake", summary: "") { _ in FakeFilter { _ in count.add(1, ordering: .relaxed) } })
        let dispatcher = dispatcher()
        deliver(try frame(0), to: dispatcher)
        deliver(try frame(1), to: dispatcher)
        let captured = filtering.frames[0]
        for wants in [filtering.wants, filtering.wants, plain.wants] {
            let adaptation = try captured.adaptation(to: wants, by: context.filtering)
            let order: FieldOrder = wants.filters.isEmpty ? .topFirst : .progressive
            #expect(captured.format(as: adaptation).fieldOrder == order)
            #expect(try captured.videoFrame(adaptation, with: context).fieldOrder == order)
        }
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test("Without a plug-in for the filter, pictures stay unchanged, which is logged once")
    func absent() throws {
        let log = LogLines()
        let refusing = FilterPlugin("refusing", summary: "") { _ in throw InletError(.unsupported, "Not built in.") }
        let context = context(refusing, log: log)
        let captured = CapturedFrame(try frame(0), timestamp: clock.now, stages: StageTimes())
        for _ in 0..<2 {
            let adaptation = try captured.adaptation(to: filtering.wants, by: context.filtering)
            #expect(try captured.videoFrame(adaptation, with: context).fieldOrder == .topFirst)
        }
        try #require(log.all.count == 1)
        #expect(log.all[0].contains("without deinterlacing") && log.all[0].contains("Not built in."))
    }

    @Test("A picture that cannot be filtered is an error")
    func failure() throws {
        let context = context(
            FilterPlugin("fake", summary: "") { _ in
                FakeFilter { _ in throw InletError(.malformedData, "Broken.") }
            })
        let captured = CapturedFrame(try frame(0), timestamp: clock.now, stages: StageTimes())
        let adaptation = try captured.adaptation(to: filtering.wants, by: context.filtering)
        let error = #expect(throws: InletError.self) { try captured.videoFrame(adaptation, with: context) }
        #expect(error?.code == .malformedData)
    }
}

/// A filter that reports its input and changes only the field order.
private final class FakeFilter: PictureFilter {
    private let note: ([UInt64?]) throws -> Void

    init(_ note: @escaping ([UInt64?]) throws -> Void) { self.note = note }

    func filtered(_ picture: SourceFrame, previous: SourceFrame?, next: SourceFrame?) throws -> SourceFrame {
        try note([previous?.sequence, picture.sequence, next?.sequence])
        var result = picture
        result.fieldOrder = .progressive
        return result
    }
}
