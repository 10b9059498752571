import InletCore
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// A live source of packets whose pictures are unused at times.
@Suite(.timeLimit(.minutes(5))) struct IdleDecodingTests {
    /// Whether a viewer watches, and the numbers that it has seen.
    private final class Audience: Sendable {
        let isPresent = Atomic(false)
        let seen = Mutex<[Int64]>([])
        let context = Mutex(SinkContext?.none)

        func report(_ open: Int) {
            isPresent.store(open > 0, ordering: .relaxed)
            var sessions = SinkSessions()
            sessions.open = open
            context.withLock { $0 }?.report(sessions)
        }
    }

    private final class AudienceSink: FrameSink {
        private let audience: Audience
        var takesFrames: Bool { audience.isPresent.load(ordering: .relaxed) }

        init(_ audience: Audience) { self.audience = audience }
        func start(_ format: VideoFormat, _ context: SinkContext) { audience.context.withLock { $0 = context } }
        func consume(_ frame: VideoFrame) { audience.seen.withLock { $0.append(frame.pts?.ticks ?? -1) } }
    }

    /// Waits until nothing is decoded while 60 packets go by, more than a group.
    private func waitForRest(_ log: NumberedCamera.Log) async {
        while true {
            let (decoded, newest) = (
                log.decoded.load(ordering: .relaxed), log.newest.load(ordering: .acquiring)
            )
            await Waiting.until { log.newest.load(ordering: .acquiring) > newest + 60 }
            if log.decoded.load(ordering: .relaxed) == decoded { return }
        }
    }

    /// Waits until nothing is decoded while the capturer takes 60 packets, and until it has taken the newest packet
    /// that was read. On a busy machine, a separate thread reads packets, and hundreds may wait.
    ///
    /// - Returns: the number of that packet.
    private func waitForRest(_ log: NumberedCamera.Log, of capturer: Capturer) async -> Int {
        /// The newest packet that was read, and an upper bound of its lead over the packets that were taken.
        @Sendable func look() -> (newest: Int, lead: Int) {
            let captured = Int(capturer.statistics.captured)
            let newest = log.newest.load(ordering: .acquiring)
            return (newest, newest - captured)
        }
        /// Waits until 60 packets have been read and 60 have been taken. Returns the smallest lead in that time.
        func passPackets() async -> Int {
            let (captured, newest) = (capturer.statistics.captured, log.newest.load(ordering: .acquiring))
            let least = Atomic(Int.max)
            await Waiting.until {
                let now = look()
                least.min(now.lead, ordering: .relaxed)
                return capturer.statistics.captured > captured + 60 && now.newest > newest + 60
            }
            return least.load(ordering: .relaxed)
        }
        while true {
            let decoded = log.decoded.load(ordering: .relaxed)
            // Some packets after the last picture do not count as frames, so the lead grows until then.
            _ = await passPackets()
            guard log.decoded.load(ordering: .relaxed) == decoded else { continue }
            // The lead shrinks as long as packets wait.
            var least = await passPackets()
            while true {
                let next = await passPackets()
                if next >= least { break }
                least = next
            }
            let bound = least
            let found = Atomic(0)
            await Waiting.until {
                let now = look()
                found.store(now.newest, ordering: .relaxed)
                return now.lead <= bound
            }
            return found.load(ordering: .relaxed)
        }
    }

    @Test(
        "Nothing is decoded without viewers; a new viewer sees the present, and a recorder gets every packet",
        arguments: [true, false], [true, false])
    func unwatched(isRecorded: Bool, reports: Bool) async throws {
        let (camera, audience, recorder) = (NumberedCamera(), Audience(), TimesRecorder())
        let capturer = Capturer(camera)
        if isRecorded { capturer.attach(recorder) }
        capturer.attach(AudienceSink(audience))
        async let outcome = capturer.run()
        for _ in 0..<2 {
            // The source is alive all the same.
            let newest = await waitForRest(camera.log, of: capturer)
            #expect(capturer.statistics.phase == .live)
            audience.seen.withLock { $0 = [] }
            if reports { audience.report(1) } else { audience.isPresent.store(true, ordering: .relaxed) }
            await Waiting.until { audience.seen.withLock { $0.count > 20 } }
            #expect(audience.seen.withLock { $0[0] } >= newest)
            if reports { audience.report(0) } else { audience.isPresent.store(false, ordering: .relaxed) }
        }
        capturer.stop()
        _ = try await outcome
        #expect(camera.log.misses.load(ordering: .relaxed) == 0)
        let times = recorder.list.times.withLock { $0 }
        // 900 ticks of 90 kHz are a hundredth of a second.
        let steps = zip(times, times.dropFirst()).map { $1 - $0 }.enumerated().filter { !(1..<1350).contains($1) }
        #expect(steps.isEmpty, "\(steps.map { "\($0.offset): \($0.element)" }) of \(times.count)")
        #expect(times.isEmpty != isRecorded)
    }

    @Test("A stream with only an old key frame is decoded without viewers, and shown to a new viewer")
    func singleKeyFrame() async throws {
        var camera = NumberedCamera()
        camera.group = .max
        let (log, audience) = (camera.log, Audience())
        let capturer = Capturer(camera)
        capturer.attach(AudienceSink(audience))
        async let outcome = capturer.run()
        // Longer than a stream with more key frames takes to stop decoding.
        await Waiting.until { log.newest.load(ordering: .acquiring) > 400 }
        let (first, captured) = (log.decoded.load(ordering: .relaxed), capturer.statistics.captured)
        await Waiting.until { log.decoded.load(ordering: .relaxed) > max(first, 300) + 100 }
        // Each picture counts once. The newest may not have been counted yet.
        let (taken, decoded) = (capturer.statistics.captured, log.decoded.load(ordering: .relaxed))
        #expect(taken - captured < decoded - first + 20)
        audience.seen.withLock { $0 = [] }
        audience.report(1)
        await Waiting.until { audience.seen.withLock { $0.count > 20 } }
        // The viewer sees the present, not the key frame, which is as old as the stream. A few pictures may be on their
        // way to the sink.
        #expect(audience.seen.withLock { $0[0] } >= decoded - 50)
        capturer.stop()
        _ = try await outcome
        #expect(log.misses.load(ordering: .relaxed) == 0)
    }

    @Test("Nothing is decoded if no sink gets pictures, even if the last one is repeated for others")
    func paused() async throws {
        let (camera, audience) = (NumberedCamera(), Audience())
        var configuration = CapturerConfiguration()
        configuration.outage.picture = .hold
        let capturer = Capturer(camera, configuration: configuration)
        audience.isPresent.store(true, ordering: .relaxed)
        capturer.attach(AudienceSink(audience))
        async let outcome = capturer.run()
        await Waiting.until { camera.log.decoded.load(ordering: .relaxed) > 50 }
        var reduction = PictureReduction()
        reduction.isPaused = true
        capturer.reduce(to: reduction)
        await waitForRest(camera.log)
        #expect(capturer.statistics.phase == .live)
        capturer.reduce(to: PictureReduction())
        audience.seen.withLock { $0 = [] }
        await Waiting.until { audience.seen.withLock { $0.count > 50 } }
        capturer.stop()
        _ = try await outcome
        #expect(camera.log.misses.load(ordering: .relaxed) == 0)
    }

    @Test("Decoding continues for a sink that gets every picture, and for the last picture that is repeated")
    func exceptions() async throws {
        for isLossless in [true, false] {
            let (camera, audience) = (NumberedCamera(), Audience())
            var configuration = CapturerConfiguration()
            if !isLossless { configuration.outage.picture = .hold }
            let capturer = Capturer(camera, configuration: configuration)
            capturer.attach(AudienceSink(audience), queue: isLossless ? .lossless() : nil)
            async let outcome = capturer.run()
            await Waiting.until { camera.log.decoded.load(ordering: .relaxed) > 350 }
            capturer.stop()
            _ = try await outcome
        }
    }
}
