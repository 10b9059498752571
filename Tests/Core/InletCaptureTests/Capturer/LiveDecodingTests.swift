import InletCore
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

/// Live packets that are read on one thread and decoded on another, by a decoder that does not keep up.
@Suite(.timeLimit(.minutes(5))) struct LiveDecodingTests {
    private static func camera(count: Int, decodingTime: Duration) -> NumberedCamera {
        var camera = NumberedCamera(decodingTime: decodingTime)
        (camera.count, camera.isTimed) = (count, true)
        return camera
    }

    /// Records the PTS of the pictures that it receives.
    private final class Pictures: FrameSink {
        let times: Times
        final class Times: Sendable { let all = Mutex<[Int64]>([]) }

        init(_ times: Times) { self.times = times }
        func consume(_ frame: VideoFrame) { times.all.withLock { $0.append(frame.pts?.ticks ?? -1) } }
    }

    @Test(
        "Pictures that are too fast are dropped as late, none without its reference; a recorder gets every packet"
    )
    func late() async throws {
        let camera = Self.camera(count: 400, decodingTime: .milliseconds(25))
        let capturer = Capturer(camera)
        let (times, recorder) = (Pictures.Times(), TimesRecorder())
        capturer.attach(Pictures(times), queue: .buffered(1000, dropping: .newest))
        capturer.attach(recorder)
        let events = capturer.events
        #expect(try await capturer.run() == .endOfStream)
        var lags: [Bool] = []
        for await case .lagging(let isLagging) in events { lags.append(isLagging) }
        let seen = times.all.withLock { $0 }
        let late = capturer.statistics.drops[.late] ?? 0
        #expect(lags.first == true)
        #expect(late > 0)
        #expect(UInt64(seen.count) + late == 400, "\(seen.count) shown, \(late) late")
        #expect(seen == seen.sorted() && Set(seen).count == seen.count)
        #expect(camera.log.misses.load(ordering: .relaxed) == 0)
        #expect(recorder.list.times.withLock { $0.count } == 400)
        #expect(camera.log.calls.withLock { $0 } == ["close"])
    }

    @Test("A sink that the source waits for gets every picture, however late")
    func lossless() async throws {
        let camera = Self.camera(count: 60, decodingTime: .milliseconds(25))
        let capturer = Capturer(camera)
        let times = Pictures.Times()
        capturer.attach(Pictures(times), queue: .lossless())
        #expect(try await capturer.run() == .endOfStream)
        #expect(times.all.withLock { $0 } == Array(0..<60))
        #expect(capturer.statistics.drops[.late] == nil)
    }

    @Test("Pictures that were read before an interruption do not end it, however late they are decoded")
    func interruption() async throws {
        // On a busy machine, all of them may be decoded by then.
        for _ in 0..<20 {
            var camera = Self.camera(count: .max, decodingTime: .milliseconds(30))
            camera.interruption = 30
            let capturer = Capturer(camera)
            let times = Pictures.Times()
            capturer.attach(Pictures(times), queue: .lossless())
            async let end = capturer.run()
            @Sendable func isInterrupted() -> Bool { if case .interrupted = capturer.state { true } else { false } }
            await Waiting.until { times.all.withLock { $0.count } == 30 }
            await Waiting.until { capturer.statistics.supervision.interruptions == 1 }
            #expect(isInterrupted(), "\(capturer.state)")
            capturer.stop()
            _ = try await end
            if camera.log.calls.withLock({ $0 }).contains("interruption before the end of decoding") { return }
        }
        Issue.record("Everything was always decoded before the interruption.")
    }

    @Test("A pause stops the reading, which resumes afterwards; a stop in between closes the source")
    func pause() async throws {
        let camera = Self.camera(count: 1_000_000, decodingTime: .milliseconds(1))
        let capturer = Capturer(camera)
        let times = Pictures.Times()
        capturer.attach(Pictures(times))
        async let end = capturer.run()
        func pictures(_ count: Int) async {
            let before = times.all.withLock { $0.count }
            await Waiting.until { times.all.withLock { $0.count } >= before + count }
        }
        // The state reports it at once; a pause that is revoked before the source has paused has no effect.
        func calls(_ count: Int) async {
            await Waiting.until { camera.log.calls.withLock { $0.count } >= count }
        }
        await pictures(5)
        capturer.pause()
        await calls(1)
        capturer.resume()
        await calls(2)
        await pictures(5)
        capturer.pause()
        await calls(3)
        capturer.stop()
        #expect(try await end == .cancelled)
        #expect(camera.log.calls.withLock { $0 } == ["pause", "resume", "pause", "close"])
    }
}
