import FFmpegDecoder
import FFmpegSource
import Foundation
import InjectSource
import InletCapture
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@Suite(.blocking) struct InjectedSourceTests {
    @Test("The source keeps the contract, including cancellation while nothing is pushed")
    func conformance() async throws {
        let size = ImageSize(width: 64, height: 48)
        let injector = try FrameInjector()
        let stops = Atomic(false)
        // Runs on a separate thread: the threads of tasks may be held by other tests for longer than the suite waits.
        let producer = Thread {
            // Less often than the suite cancels, so that some calls wait.
            while !stops.load(ordering: .relaxed) {
                if let draft = try? I420Draft(size: size) { _ = try? injector.push(draft.publish()) }
                Thread.sleep(forTimeInterval: 0.03)
            }
        }
        producer.start()
        defer { stops.store(true, ordering: .relaxed) }
        var suite = SourceConformance()
        suite.allowsTwoAtOnce = false
        suite.frames = 5
        #expect(await suite.check(InjectedSourceConfiguration(injector)) == [])
    }

    @Test("Opening waits for the first picture, and reports its format")
    func opening() throws {
        let context = SourceContext(clock: ManualClock(waiting: .movesTime), logger: Logger(label: "test"))
        let injector = try FrameInjector()
        try injector.push(RawPicture([UInt8](repeating: 0, count: 4 * 12)).frame(.bgra, ImageSize(width: 4, height: 3)))
        let source = InjectedSource(injector)
        let format = try source.open(context)
        #expect(format.size == ImageSize(width: 4, height: 3))
        #expect(format.pixelFormat == .bgra)
        #expect(format.pacing == .live)
        #expect(try source.next(context)?.frame?.pixelFormat == .bgra)
        #expect(try source.pause(context))
        #expect(try injector.push(try I420Draft(size: format.size).publish()) == .dropped(.disabled))
        try source.resume(context)
        #expect(try injector.push(try I420Draft(size: format.size).publish()) == .queued)
        injector.end()
        #expect(try source.next(context)?.frame?.sequence == 1)
        #expect(try source.next(context) == nil)
        source.close()
        #expect(!injector.wants.isActive)
    }

    @Test("If nothing is pushed, the deadline's error states a remedy")
    func timeOut() throws {
        let clock = ManualClock(waiting: .movesTime)
        let context = SourceContext(clock: clock, logger: Logger(label: "test"))
        context.setDeadline(after: .zero)
        let source = InjectedSource(try FrameInjector())
        let error = #expect(throws: InletError.self) { try source.open(context) }
        source.close()
        #expect(error?.code == .timedOut)
    }

    @Test("A request for a key frame reaches the producer")
    func keyFrameRequests() async throws {
        let parameters = CodecParameters(
            codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 1000))
        let injector = try FrameInjector(InjectorConfiguration(packets: PacketStream(parameters)))
        let context = SourceContext(clock: SystemClock(), logger: Logger(label: "test"))
        let reader = Task.detached {
            let source = InjectedSource(injector)
            _ = try source.open(context)
            while try source.next(context) != nil {}
            source.close()
        }
        await Waiting.until { injector.wants.isActive }
        #expect(injector.wants.keyFrameRequests == 0)
        context.requestKeyFrame()
        await Waiting.until { injector.wants.keyFrameRequests == 1 }
        injector.end()
        try await reader.value
    }

    @Test("Pushed packets are decoded to ffmpeg's pictures of their file")
    func packets() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("clip.mp4")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=30", "-frames:v", "20", "-c:v", "mpeg4", "-g", "10",
            "-pix_fmt", "yuv420p", file,
        ])
        let reference = try ReferenceCommand.ffmpeg(["-i", file, "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"])

        let context = SourceContext(clock: ManualClock(waiting: .movesTime), logger: Logger(label: "test"))
        let reader = FFmpegFileConfiguration(path: file).makePacketSource()
        let stream = try #require(try reader.open(context).packetStream)
        let injector = try FrameInjector(InjectorConfiguration(packets: stream))
        var count = 0
        while let item = try reader.next(context) {
            guard let packet = item.packet else { continue }
            #expect(try injector.push(packet) == .queued)
            count += 1
        }
        reader.close()
        injector.end()
        #expect(count == 20)

        var configuration = CapturerConfiguration.patient
        configuration.retry = .never
        let capturer = Capturer(
            InjectedSourceConfiguration(injector, decoders: [.ffmpeg]), configuration: configuration)
        let box = KeepingSink.Box()
        capturer.attach(KeepingSink(box), queue: .lossless())
        try await capturer.run()
        let got = box.frames.reduce(into: Data()) { $0.append($1.buffer.packedBytes) }
        #expect(box.frames.count == 20)
        #expect(got.isSame(as: reference))
    }
}
