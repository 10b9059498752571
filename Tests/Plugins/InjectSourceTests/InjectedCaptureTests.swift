import Foundation
import InletCapture
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import InjectSource

@Suite(.blocking) struct InjectedCaptureTests {
    private static let size = ImageSize(width: 64, height: 48)

    private func picture(_ luma: UInt8 = 100) throws -> I420Buffer {
        var draft = try I420Draft(size: Self.size)
        draft.fill(y: luma, u: 128, v: 128)
        return draft.publish()
    }

    @Test("A pushed I420 picture reaches the sink in the same memory, and its owner lives exactly as long")
    func noCopy() async throws {
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(8)))
        let released = Atomic(0)
        var addresses: [[UInt]] = []
        for number in 0..<3 {
            let raw = RawPicture(
                [UInt8](repeating: UInt8(number), count: Self.size.packedI420ByteCount),
                onRelease: { released.add(1, ordering: .relaxed) })
            let start = unsafe UInt(bitPattern: raw.memory.baseAddress)
            addresses.append(RawPicture.planes(.yuv420p, Self.size).map { start + UInt($0.offset) })
            try injector.push(raw.frame(.yuv420p, Self.size, pts: .milliseconds(number)))
        }
        injector.end()
        do {
            let capture = Capture(injector)
            #expect(try await capture.capturer.run() == .endOfStream)
            let frames = capture.sink.frames
            #expect(frames.count == 3)
            for (frame, expected) in zip(frames, addresses) {
                let found = I420Buffer.Plane.allCases.map { unsafe UInt(bitPattern: frame.buffer.baseAddress(of: $0)) }
                #expect(found == expected)
            }
            #expect(released.load(ordering: .relaxed) == 0)
        }
        await Waiting.until { released.load(ordering: .relaxed) == 3 }
    }

    @Test("PTS, rotation and colour arrive as pushed; without a PTS the time of the push counts")
    func facts() async throws {
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(8), timeBase: Rational(1, 90_000)))
        try injector.push(
            try picture(), pts: MediaTime(ticks: 1, timeBase: Rational(1, 30)), colorSpace: .bt709,
            rotation: .clockwise90)
        try injector.push(try picture(), pts: MediaTime(ticks: 2, timeBase: Rational(1, 30)), colorSpace: .bt601)
        injector.end()
        let capture = Capture(injector)
        try await capture.capturer.run()
        let frames = capture.sink.frames
        #expect(frames.map(\.pts) == [3000, 6000].map { MediaTime(ticks: $0, timeBase: Rational(1, 90_000)) })
        #expect(frames.map(\.rotation) == [.clockwise90, .none])
        #expect(frames.map(\.colorSpace) == [.bt709, .bt601])
        #expect(frames.map(\.sequence) == [0, 1])

        let unstamped = try FrameInjector(InjectorConfiguration(queue: .bounded(8)))
        for _ in 0..<3 { try unstamped.push(try picture()) }
        unstamped.end()
        let second = Capture(unstamped)
        try await second.capturer.run()
        #expect(second.sink.frames.map(\.pts) == [nil, nil, nil])
        #expect(second.capturer.statistics.stampedByArrival == 3)
        let times = second.sink.frames.map(\.timestamp)
        #expect(times == times.sorted() && Set(times).count == 3)
    }

    @Test(
        "NV12 and BGRA become ffmpeg's pictures of the same bytes, wrapped and copied",
        arguments: [
            ("nv12", ImageSize(width: 128, height: 96)), ("nv12", ImageSize(width: 71, height: 43)),
            ("bgra", ImageSize(width: 128, height: 96)),
        ])
    func pixels(format: String, size: ImageSize) async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("native")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc=size=\(size):rate=30", "-frames:v", "3", "-pix_fmt", format, "-f",
            "rawvideo", file,
        ])
        let reference = try ReferenceCommand.ffmpeg([
            "-f", "rawvideo", "-pix_fmt", format, "-s", "\(size)", "-i", file, "-vf",
            "scale=flags=area+accurate_rnd+full_chroma_int,format=yuv420p", "-f", "rawvideo", "-",
        ])
        let bytes = try Data(contentsOf: URL(filePath: file))
        let count = bytes.count / 3
        for copies in [false, true] {
            let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(8)))
            for number in 0..<3 {
                let part = [UInt8](bytes[number * count..<(number + 1) * count])
                if copies {
                    try injector.push(
                        copying: part.span, pixelFormat: PixelFormat(format), size: size,
                        pts: .milliseconds(number))
                } else {
                    try injector.push(
                        RawPicture(part).frame(PixelFormat(format), size, pts: .milliseconds(number)))
                }
            }
            injector.end()
            let capture = Capture(injector)
            try await capture.capturer.run()
            let got = capture.sink.frames.reduce(into: Data()) { $0.append($1.buffer.packedBytes) }
            #expect(got.count == reference.count)
            #expect(injector.statistics.copied == (copies ? 3 : 0))
            if format == "nv12" {
                #expect(got.isSame(as: reference))
            } else {
                // The two libraries round red, green and blue differently.
                #expect(zip(got, reference).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
            }
        }
    }

    @Test("A copied I420 picture is independent: its bytes may change after the push")
    func copiesPlanar() async throws {
        let reference = try ReferencePictures(
            lavfi: "testsrc=size=71x43", size: ImageSize(width: 71, height: 43), frames: 1)
        let injector = try FrameInjector()
        var bytes = [UInt8](reference.bytes)
        try injector.push(copying: bytes.span, pixelFormat: .yuv420p, size: reference.size)
        for index in bytes.indices { bytes[index] = 0 }
        injector.end()
        let capture = Capture(injector)
        try await capture.capturer.run()
        #expect(capture.sink.frames.count == 1)
        #expect(capture.sink.frames.first?.buffer.packedBytes.isSame(as: reference.bytes) == true)
    }

    @Test("Pictures may change their size at any time")
    func sizes() async throws {
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(8)))
        let sizes = [
            ImageSize(width: 64, height: 48), ImageSize(width: 33, height: 17), ImageSize(width: 2, height: 2),
        ]
        for size in sizes { try injector.push(try I420Draft(size: size).publish()) }
        injector.end()
        let capture = Capture(injector)
        try await capture.capturer.run()
        #expect(capture.sink.frames.map(\.size) == sizes)
    }

    @Test("Many threads push at once: each picture is delivered, dropped or queued, and none is torn")
    func manyThreads() async throws {
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(64, dropping: .newest)))
        let capture = Capture(injector)
        async let ended = capture.capturer.run()
        let pushed = 8 * 200
        await withTaskGroup { group in
            for worker in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        guard var draft = try? I420Draft(size: Self.size) else { return }
                        let value = UInt8((worker * 31 + number) % 256)
                        draft.fill(y: value, u: value, v: value)
                        _ = try? injector.push(draft.publish())
                    }
                }
            }
        }
        injector.end()
        #expect(try await ended == .endOfStream)
        let figures = injector.statistics
        #expect(figures.pushed == UInt64(pushed))
        #expect(figures.queued == 0)
        #expect(figures.delivered + figures.dropped.values.reduce(0, +) == UInt64(pushed))
        #expect(capture.sink.frames.count == Int(figures.delivered))
        for frame in capture.sink.frames {
            let value = frame.buffer.row(0, of: .y)[0]
            #expect(Set(frame.buffer.packedBytes) == [value])
        }
    }

    @Test("A failed source is opened again by the capturer, and the injector continues")
    func retries() async throws {
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(8), size: Self.size))
        var retry = RetryPolicy.attempts(5)
        retry.firstDelay = .milliseconds(1)
        let capture = Capture(injector, retry: retry)
        async let ended = capture.capturer.run()
        await capture.isActive()
        try injector.push(try picture(1), pts: .milliseconds(1))
        await Waiting.until { capture.sink.frames.count == 1 }
        injector.fail(InletError(.disconnected, "The game was restarted."))
        await Waiting.until { injector.statistics.sources == 2 }
        try injector.push(try picture(2), pts: .milliseconds(2))
        await Waiting.until { capture.sink.frames.count == 2 }
        injector.end()
        #expect(try await ended == .endOfStream)
        #expect(capture.sink.frames.map { $0.buffer.row(0, of: .y)[0] } == [1, 2])
    }

    @Test("Without a retry the run fails with the pushed error")
    func fails() async throws {
        let injector = try FrameInjector()
        injector.fail(InletError(.permissionDenied, "The user refused to share the screen."))
        let capture = Capture(injector)
        let error = await #expect(throws: InletError.self) { try await capture.capturer.run() }
        #expect(error?.code == .permissionDenied)
        #expect(error?.context.subject == "inject:frames")
    }

    @Test("A second capturer is refused while the first reads, and served after it")
    func twoReaders() async throws {
        let injector = try FrameInjector(InjectorConfiguration(size: Self.size))
        let first = Capture(injector)
        async let ended = first.capturer.run()
        await first.isActive()
        let error = await #expect(throws: InletError.self) { try await Capture(injector).capturer.run() }
        #expect(error?.code == .busy)
        first.capturer.stop()
        #expect(try await ended == .cancelled)
        let third = Capture(injector)
        try injector.push(try picture())
        injector.end()
        #expect(try await third.capturer.run() == .endOfStream)
        #expect(third.sink.frames.count == 1)
    }

    @Test("Drops of the injector are counted by the capture as well")
    func drops() async throws {
        let injector = try FrameInjector(InjectorConfiguration(size: Self.size))
        let capture = Capture(injector)
        async let ended = capture.capturer.run()
        await capture.isActive()
        injector.mute()
        #expect(!injector.wants.isActive)
        for _ in 0..<5 { #expect(try injector.push(try picture()) == .dropped(.disabled)) }
        injector.unmute()
        #expect(try injector.push(try picture(), pts: .milliseconds(10)) == .queued)
        #expect(try injector.push(try picture(), pts: .milliseconds(9)) == .dropped(.outOfOrder))
        await Waiting.until { !capture.sink.frames.isEmpty }
        #expect(capture.capturer.statistics.sourceDrops == [.disabled: 5, .outOfOrder: 1])
        injector.end()
        _ = try await ended
    }

    @Test("The sinks' demand reaches the producer")
    func demand() async throws {
        let injector = try FrameInjector(InjectorConfiguration(size: Self.size))
        let capturer = Capturer(InjectedSourceConfiguration(injector), configuration: .patient)
        let box = KeepingSink.Box()
        let wants = SinkWants(size: ImageSize(width: 32, height: 24), maximumFrameRate: Rational(10))
        capturer.attach(KeepingSink(box), wants: wants)
        async let ended = capturer.run()
        await Waiting.until { injector.wants.isActive && injector.wants.demand.maximumFrameRate == Rational(10) }
        #expect(injector.wants.size(for: Self.size) == ImageSize(width: 32, height: 24))
        injector.adapt(maximumFrameRate: Rational(5))
        #expect(injector.wants.demand.maximumFrameRate == Rational(5))
        injector.end()
        _ = try await ended
    }

    @Test("A picture is repeated if nothing new is pushed, with a later PTS each time")
    func repeats() async throws {
        var configuration = InjectorConfiguration()
        configuration.repeatAfter = .milliseconds(5)
        let injector = try FrameInjector(configuration)
        let capture = Capture(injector)
        async let ended = capture.capturer.run()
        try injector.push(try picture(7), pts: .milliseconds(1000))
        await Waiting.until { capture.sink.frames.count >= 4 }
        injector.end()
        _ = try await ended
        let frames = capture.sink.frames
        let times = frames.compactMap(\.pts)
        #expect(times.count == frames.count && times == times.sorted() && Set(times).count == times.count)
        #expect(frames.allSatisfy { $0.buffer === frames[0].buffer || $0.buffer.row(0, of: .y)[0] == 7 })
        #expect(injector.statistics.repeated == UInt64(frames.count - 1))
    }

    @Test("An interruption is reported to the capturer and ends with the next push")
    func interruption() async throws {
        let injector = try FrameInjector(InjectorConfiguration(size: Self.size))
        let capture = Capture(injector)
        let events = capture.capturer.events
        async let ended = capture.capturer.run()
        await capture.isActive()
        injector.beginInterruption("the window is minimized")
        await Waiting.until { capture.capturer.statistics.stateDescription.contains("the window is minimized") }
        try injector.push(try picture())
        await Waiting.until { !capture.capturer.statistics.stateDescription.contains("the window is minimized") }
        injector.end()
        _ = try await ended
        withExtendedLifetime(events) {}
    }
}
