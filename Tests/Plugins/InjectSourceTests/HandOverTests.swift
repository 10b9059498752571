import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Synchronization
import Testing

@testable import InjectSource

/// Pictures that the pushing thread puts into the sinks' queues itself while the source waits.
struct HandOverTests {
    private static let size = ImageSize(width: 16, height: 16)

    private func picture(_ number: Int) throws -> SourceItem {
        .frame(SourceFrame(try I420Draft(size: Self.size).publish(), pts: .milliseconds(number), sequence: 0))
    }

    private func number(_ turn: InjectorState.Turn) -> Int64? {
        guard case .item(let item) = turn else { return nil }
        return item.frame?.pts?.ticks
    }

    private func push(
        _ state: inout InjectorState, _ value: Int, handsOver: Bool = true
    ) throws -> InjectorState.Push {
        state.push(try picture(value), bytes: 10, at: MonotonicTime(nanoseconds: 0), handsOver: handsOver)
    }

    private func handedOver(_ state: inout InjectorState, _ value: Int, taken: Bool) throws -> InjectorState.Push {
        state.handedOver(try picture(value), bytes: 10, taken: taken)
    }

    private func take(_ state: inout InjectorState) -> Int64? { number(state.take()) }

    private func isEmpty(_ state: inout InjectorState) -> Bool { if case .empty = state.take() { true } else { false } }

    // MARK: The decisions

    @Test("Only a picture that a reader waits for is handed over, and one at a time")
    func oneAtATime() throws {
        var state = InjectorState(InjectorConfiguration(queue: .bounded(8)))
        // Nobody waits.
        #expect(try !push(&state, 1).isForHandOver)
        #expect(take(&state) == 1)
        #expect(isEmpty(&state))
        // The reader does not permit it.
        let queued = try push(&state, 2, handsOver: false)
        #expect(!queued.isForHandOver && queued.wakesReader)
        #expect(take(&state) == 2)
        #expect(isEmpty(&state))
        // The reader keeps sleeping, even while others push, and takes nothing if it wakes by itself.
        let third = try push(&state, 3)
        #expect(third.isForHandOver && !third.wakesReader)
        let fourth = try push(&state, 4)
        #expect(!fourth.isForHandOver && !fourth.wakesReader)
        #expect(isEmpty(&state))
        #expect(try handedOver(&state, 3, taken: true).wakesReader)
        #expect(take(&state) == 4)
        #expect(state.figures.delivered == 4)
        #expect(state.figures.handedOver == 1)
        #expect(state.figures.pushed == 4)
    }

    @Test("If nothing else was pushed, the reader keeps sleeping")
    func sleepsOn() throws {
        var state = InjectorState(InjectorConfiguration())
        #expect(isEmpty(&state))
        #expect(try push(&state, 1).isForHandOver)
        #expect(try !handedOver(&state, 1, taken: true).wakesReader)
        // The reader still waits.
        #expect(try push(&state, 2, handsOver: false).wakesReader)
    }

    @Test("A picture that the bridge leaves to the reader comes before later ones, if there is room")
    func refused() throws {
        var state = InjectorState(InjectorConfiguration(queue: .bounded(2)))
        #expect(isEmpty(&state))
        #expect(try push(&state, 1).isForHandOver)
        _ = try push(&state, 2)
        let late = try handedOver(&state, 1, taken: false)
        #expect(late.outcome == .queued && late.wakesReader)
        #expect([take(&state), take(&state)] == [1, 2])
        #expect(state.figures.queuedBytes == 0)

        #expect(isEmpty(&state))
        #expect(try push(&state, 3).isForHandOver)
        for value in 4...5 { _ = try push(&state, value) }
        #expect(try handedOver(&state, 3, taken: false).outcome == .dropped(.queueFull))
        #expect([take(&state), take(&state)] == [4, 5])
        #expect(state.figures.pushed == 5)
        #expect(state.figures.delivered == 4)
        #expect(state.figures.dropped == [.queueFull: 1])
    }

    @Test("The end and a failure come after a picture that is being handed over")
    func end() throws {
        var state = InjectorState(InjectorConfiguration())
        #expect(isEmpty(&state))
        #expect(try push(&state, 1).isForHandOver)
        let wakes = [state.fail(InletError(.disconnected, "Gone.")), state.end()]
        #expect(wakes == [false, false])
        #expect(isEmpty(&state))
        #expect(try handedOver(&state, 1, taken: true).wakesReader)
        guard case .failed = state.take() else { return #expect(Bool(false), "no failure") }
        guard case .ended = state.take() else { return #expect(Bool(false), "no end") }
    }

    @Test("A picture that ends an interruption wakes the reader, which knows about the interruption")
    func interruption() throws {
        var state = InjectorState(InjectorConfiguration())
        #expect(isEmpty(&state))
        let wakes = state.setInterruption("minimized")
        #expect(wakes)
        #expect(isEmpty(&state))
        let first = try push(&state, 1)
        #expect(!first.isForHandOver && first.wakesReader)
    }

    // MARK: With a capturer

    /// Pushes until some pictures were handed over.
    private func pushUntilHandedOver(_ count: UInt64, _ injector: FrameInjector) async throws {
        await Waiting.until {
            _ = try? injector.push(try I420Draft(size: Self.size).publish())
            return injector.statistics.handedOver >= count
        }
    }

    @Test("Pictures of many threads, handed over or not, arrive once each, with gapless numbers")
    func numbers() async throws {
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(4096)))
        let capture = Capture(injector, queue: .buffered(4096, dropping: .newest))
        async let ended = capture.capturer.run()
        await capture.isActive()
        try await pushUntilHandedOver(20, injector)
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<200 {
                        guard let draft = try? I420Draft(size: Self.size) else { return }
                        _ = try? injector.push(draft.publish())
                        await Task.yield()
                    }
                }
            }
        }
        injector.end()
        #expect(try await ended == .endOfStream)
        let figures = injector.statistics
        #expect(figures.delivered == figures.pushed && figures.queued == 0)
        let numbers = capture.sink.frames.map(\.sequence)
        #expect(numbers == Array(0..<figures.pushed))
        let times = capture.sink.frames.map(\.timestamp)
        #expect(times == times.sorted() && Set(times).count == times.count)
        #expect(capture.capturer.statistics.sourceDrops == [:])
    }

    @Test("With a lossless sink, or a limit, each picture passes through the source", arguments: [false, true])
    func throughTheSource(_ hasLimit: Bool) async throws {
        let injector = try FrameInjector()
        var configuration = CapturerConfiguration.patient
        configuration.retry = .never
        if hasLimit { configuration.frameLimit = 30 }
        let capturer = Capturer(InjectedSourceConfiguration(injector), configuration: configuration)
        let box = KeepingSink.Box()
        capturer.attach(KeepingSink(box), queue: hasLimit ? .latest : .lossless())
        async let ended = capturer.run()
        await Waiting.until {
            _ = try? injector.push(try I420Draft(size: Self.size).publish())
            return injector.statistics.delivered >= 30
        }
        injector.end()
        #expect(try await ended == (hasLimit ? .frameLimit : .endOfStream))
        #expect(injector.statistics.handedOver == 0)
        #expect(hasLimit || box.frames.count == Int(injector.statistics.delivered))
        #expect(!hasLimit || capturer.statistics.captured == 30)
    }

    @Test("A pause is noticed while pictures are handed over, and they continue after it")
    func pause() async throws {
        let injector = try FrameInjector()
        let capture = Capture(injector, queue: .latest)
        async let ended = capture.capturer.run()
        try await pushUntilHandedOver(5, injector)
        capture.capturer.pause()
        await Waiting.until {
            _ = try? injector.push(try I420Draft(size: Self.size).publish())
            return injector.statistics.dropped[.disabled, default: 0] > 0
        }
        let before = injector.statistics.handedOver
        capture.capturer.resume()
        try await pushUntilHandedOver(before + 5, injector)
        injector.end()
        #expect(try await ended == .endOfStream)
    }

    @Test("An error ends handing over, and the next source restarts it")
    func retry() async throws {
        let injector = try FrameInjector()
        var retry = RetryPolicy.attempts(5)
        retry.firstDelay = .milliseconds(1)
        let capture = Capture(injector, retry: retry, queue: .buffered(4096, dropping: .newest))
        async let ended = capture.capturer.run()
        try await pushUntilHandedOver(5, injector)
        injector.fail(InletError(.disconnected, "The game was restarted."))
        await Waiting.until { injector.statistics.sources == 2 }
        let before = injector.statistics.handedOver
        try await pushUntilHandedOver(before + 5, injector)
        injector.end()
        #expect(try await ended == .endOfStream)
        let numbers = capture.sink.frames.map(\.sequence)
        #expect(numbers == Array(0..<UInt64(numbers.count)))
    }

    @Test("An owner may push the next picture while its own is released, even if the last one is held for outages")
    func pushesFromOwners() async throws {
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(64)))
        var configuration = CapturerConfiguration.patient
        configuration.outage.picture = .hold
        let capturer = Capturer(InjectedSourceConfiguration(injector), configuration: configuration)
        let box = CountingSink.Box()
        capturer.attach(CountingSink(box), queue: .latest)
        async let ended = capturer.run()
        let releases = Atomic(0)
        @Sendable func picture() -> SourceFrame {
            RawPicture([UInt8](repeating: 0, count: Self.size.packedI420ByteCount)) {
                if releases.add(1, ordering: .relaxed).newValue < 300 { _ = try? injector.push(picture()) }
            }.frame(.yuv420p, Self.size)
        }
        // Each picture is followed by the next one when it is released.
        for _ in 0..<4 { try injector.push(picture()) }
        await Waiting.until {
            _ = try? injector.push(picture())
            return releases.load(ordering: .relaxed) >= 300 && injector.statistics.handedOver > 0
        }
        injector.end()
        #expect(try await ended == .endOfStream)
        #expect(box.count.load(ordering: .relaxed) > 0)
    }

    /// Counts and keeps nothing.
    private final class CountingSink: FrameSink {
        final class Box: Sendable { let count = Atomic(0) }
        private let box: Box
        init(_ box: Box) { self.box = box }
        func consume(_ frame: VideoFrame) { box.count.add(1, ordering: .relaxed) }
    }
}
