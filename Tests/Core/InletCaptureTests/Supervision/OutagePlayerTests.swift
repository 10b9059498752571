import Dispatch
import InletConvert
import InletCore
import InletSystem
import InletTesting
import Testing

@testable import InletCapture

/// The pictures of placeholders, one at a time.
@Suite(.timeLimit(.minutes(10))) struct OutagePlayerTests {
    private let clock = ManualClock()
    private let size = ImageSize(width: 320, height: 240)

    private func dispatcher(for receiver: some FrameReceiver) -> FrameDispatcher {
        FrameDispatcher(
            clock: clock, counters: SessionCounters(), limits: .init(), keepsLastFrame: true, receivers: { [receiver] })
    }

    /// Runs a test with a player whose timer has no effect: its queue does not run.
    private func withPlayer(
        _ picture: OutagePolicy.Picture, _ dispatcher: FrameDispatcher, _ body: (OutagePlayer) async throws -> Void
    ) async throws {
        let queue = DispatchQueue(label: "outage", attributes: .initiallyInactive)
        // A queue that never ran cannot be released.
        defer { queue.activate() }
        let player = OutagePlayer(
            policy: OutagePolicy(picture), disabledPicture: .black, delay: .zero, clock: clock,
            dispatcher: dispatcher, queue: queue)
        defer { player.stop() }
        try await body(player)
    }

    private func frame(_ size: ImageSize) throws -> SourceFrame {
        var draft = try I420Draft(size: size)
        draft.fillBlack()
        return SourceFrame(draft.publish(), pts: nil, sequence: 0)
    }

    private func frames(_ receiver: CollectingReceiver, _ wants: SinkWants = SinkWants()) throws -> [VideoFrame] {
        try receiver.frames.map {
            try $0.videoFrame(
                $0.adaptation(to: wants),
                with: ConversionContext(
                    converter: .init(), pool: I420BufferPool(capacity: 1), scalingPool: I420BufferPool(capacity: 1)
                ) {}
            )
        }
    }

    private func sizes(_ receiver: CollectingReceiver) throws -> [ImageSize] { try frames(receiver).map(\.size) }

    /// Delivers a frame, if there is one, and shows the placeholder that follows it.
    private func show(
        _ picture: OutagePolicy.Picture, after frame: SourceFrame?, of format: SourceFormat
    ) async throws -> CollectingReceiver {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: receiver)
        #expect(dispatcher.begin(1, format: format))
        if let frame { _ = dispatcher.deliver(.frame(frame), from: 1) { false } }
        try await withPlayer(picture, dispatcher) { player in
            clock.advance(by: .seconds(1))
            player.show(.outage(since: clock.now), in: .stalled, now: clock.now)
            player.playOne()
        }
        return receiver
    }

    @Test(
        "A placeholder has the camera's colour space, rotation and pixel aspect ratio, so that a recording continues",
        arguments: [OutagePolicy.Picture.text, .black, .hold], [true, false])
    func look(_ picture: OutagePolicy.Picture, hasFrame: Bool) async throws {
        guard hasFrame || picture != .hold else { return }
        let colors = ColorSpace(primaries: .bt709, transfer: .bt709, matrix: .bt709, range: .full)
        var format = ScriptedSource.format(size: size, pacing: .live)
        (format.colorSpace, format.rotation, format.sampleAspectRatio) = (colors, .clockwise90, Rational(4, 3))
        var frame = try frame(size)
        (frame.colorSpace, frame.rotation, frame.sampleAspectRatio) = (colors, .clockwise90, Rational(4, 3))
        let shown = try await show(picture, after: hasFrame ? frame : nil, of: format)
        let last = try #require(try frames(shown).last)
        #expect(last.flags == .placeholder)
        #expect(last.size == size)
        #expect(last.colorSpace == colors)
        #expect(last.rotation == .clockwise90)
        #expect(last.sampleAspectRatio == Rational(4, 3))
    }

    @Test("A placeholder has the colour space that RGB pictures have as I420")
    func lookOfRGB() async throws {
        var format = ScriptedSource.format(size: size, pacing: .live)
        format.pixelFormat = .rgb24
        format.colorSpace = ColorSpace(matrix: .identity, range: .full)
        let shown = try await show(.text, after: nil, of: format)
        let last = try #require(try frames(shown).last)
        #expect(last.colorSpace.matrix == .smpte170m)
        #expect(last.colorSpace.range == .limited)
    }

    @Test("The text of a placeholder is upright when the picture is", arguments: Rotation.allCases)
    func uprightText(_ rotation: Rotation) async throws {
        let upright = ImageSize(width: 240, height: 320)
        let stored = rotation.swapsDimensions ? upright.transposed : upright
        var format = ScriptedSource.format(size: stored, pacing: .live)
        format.rotation = rotation
        let turned = try await show(.text, after: nil, of: format)
        let plain = try await show(.text, after: nil, of: ScriptedSource.format(size: upright, pacing: .live))
        let (one, other) = (
            try frames(turned, SinkWants(rotation: .applied)).last, try frames(plain).last
        )
        let (left, right) = (try #require(one).buffer, try #require(other).buffer)
        #expect(left.size == upright)
        #expect(left.luma == right.luma)
        #expect(Set(left.luma).count == 2)
    }

    @Test("However many pictures sinks hold, a changed one is made")
    func heldPictures() async throws {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: receiver)
        #expect(dispatcher.begin(1, format: ScriptedSource.format(size: size, pacing: .live)))
        try await withPlayer(.text, dispatcher) { player in
            for attempt in 1...10 {
                clock.advance(by: .seconds(1))
                player.show(
                    .outage(since: clock.now), in: .waiting(attempt: attempt, delay: .seconds(1)), now: clock.now)
                player.playOne()
                #expect(receiver.frames.count == attempt)
            }
        }
    }

    @Test("Placeholders keep their planned times, and those whose time has passed are left out")
    func rate() async throws {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: receiver)
        #expect(dispatcher.begin(1, format: ScriptedSource.format(size: size, pacing: .live)))
        let queue = DispatchQueue(label: "outage")
        let player = OutagePlayer(
            policy: OutagePolicy(.black, frameRate: Rational(10)), disabledPicture: .black, delay: .seconds(1),
            clock: clock, dispatcher: dispatcher, queue: queue)
        let start = clock.now
        func show() {
            queue.sync { player.show(.outage(since: start), in: .stalled, now: clock.now) }
        }
        /// In milliseconds.
        var times: [Int64] { receiver.frames.map { ($0.timestamp - start).wholeNanoseconds / 1_000_000 } }
        show()
        await clock.run(for: .milliseconds(999))
        #expect(times.isEmpty)
        await clock.run(for: .milliseconds(201))
        #expect(times == [1000, 1100, 1200])
        // The picture is requested again at every event, which changes nothing.
        show()
        // The queue is late by two pictures and a half.
        clock.advance(by: .milliseconds(350))
        await clock.run(for: .milliseconds(150))
        #expect(times.dropFirst(3) == [1550, 1600, 1700])
        queue.sync { player.stop() }
        #expect(clock.timerCount == 0)
        await clock.run(for: .seconds(10))
        #expect(times.count == 6)
    }

    @Test("An unreferenced player shows nothing, and its timer does not keep it alive")
    func released() async throws {
        let receiver = CollectingReceiver()
        let dispatcher = dispatcher(for: receiver)
        #expect(dispatcher.begin(1, format: ScriptedSource.format(size: size, pacing: .live)))
        weak var released: OutagePlayer?
        do {
            let player = OutagePlayer(
                policy: OutagePolicy(.black), disabledPicture: .black, delay: .zero, clock: clock,
                dispatcher: dispatcher, queue: DispatchQueue(label: "outage"))
            player.show(.outage(since: clock.now), in: .stalled, now: clock.now)
            await clock.settle()
            #expect(clock.timerCount == 1)
            released = player
        }
        #expect(released == nil)
        #expect(clock.timerCount == 0)
    }

    @Test("A placeholder has the source's size from its opening on, even while a producer is busy")
    func sizeOfPlaceholders() async throws {
        let gate = Gate(isOpen: true)
        let receiver = CollectingReceiver(gate: gate)
        let dispatcher = dispatcher(for: receiver)
        try await withPlayer(.black, dispatcher) { player in
            player.show(.outage(since: clock.now), in: .opening, now: clock.now)
            player.playOne()
            #expect(dispatcher.begin(1, format: ScriptedSource.format(size: size, pacing: .live)))
            clock.advance(by: .seconds(1))
            player.playOne()
        }
        // The source has changed its size, and its frame is on its way to a slow sink.
        let small = ImageSize(width: 64, height: 48)
        let frame = try frame(small)
        gate.close()
        clock.advance(by: .seconds(1))
        let delivered = Completion<Void>()
        try SystemThread.start(named: "producer") {
            _ = dispatcher.deliver(.frame(frame), from: 1) { false }
            delivered.resolve(())
        }
        await gate.someoneWaits()
        try await withPlayer(.black, dispatcher) { player in
            player.show(.outage(since: clock.now + .seconds(1)), in: .opening, now: clock.now)
            player.playOne()
            gate.open()
            await delivered.value()
            clock.advance(by: .seconds(2))
            player.playOne()
        }
        #expect(try sizes(receiver) == [size, small, small])
    }
}

extension I420Buffer {
    fileprivate var luma: [UInt8] {
        (0..<size.height).flatMap { row in
            let pixels = self.row(row, of: .y)
            return (0..<size.width).map { pixels[$0] }
        }
    }
}
