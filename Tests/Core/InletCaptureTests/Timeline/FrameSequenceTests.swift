import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Testing

@Suite(.timeLimit(.minutes(10))) struct FrameSequenceTests {
    private func capturer(_ steps: [ScriptedSource.Step], pacing: SourcePacing = .unpaced) -> Capturer {
        let script = ScriptedSource.Script(format: ScriptedSource.format(pacing: pacing), steps)
        return Capturer(ScriptedSourceConfiguration(script), configuration: .patient)
    }

    /// The next sink end among the events.
    private func end(_ events: AsyncStream<CapturerEvent>) async -> (name: String, error: InletError?)? {
        for await event in events {
            if case .sinkEnded(_, let name, let error) = event { return (name, error) }
        }
        return nil
    }

    @Test(
        "A slow loop gets every frame of a source that can wait",
        arguments: [SourcePacing.unpaced, .realtime])
    func takesAll(pacing: SourcePacing) async throws {
        let capturer = capturer(.frames(60), pacing: pacing)
        let sequences = try await capturer.run { frames in
            var seen: [UInt64] = []
            for try await frame in frames {
                seen.append(frame.sequence)
                // The source gets as far ahead as it may.
                for _ in 0..<3 { await Task.yield() }
            }
            return seen
        }
        #expect(sequences == Array(0..<60))
        #expect(capturer.statistics.drops == [:])
    }

    @Test("A loop that is slower than a live source gets its newest frame")
    func takesNewest() async throws {
        let capturer = capturer(.frames(100), pacing: .live)
        let sequences = try await capturer.run { frames in
            await Waiting.until { capturer.statistics.captured >= 100 }
            var seen: [UInt64] = []
            for try await frame in frames { seen.append(frame.sequence) }
            return seen
        }
        #expect(sequences == [99])
        #expect(capturer.statistics.drops == [.superseded: 99])
    }

    @Test("A released sequence is detached while the run continues")
    func released() async throws {
        let capturer = capturer(.frames(3) + [.hang])
        let events = capturer.events
        var frames: FrameSequence? = capturer.frames(queue: .lossless(4))
        async let reason = capturer.run()
        var iterator = frames?.makeAsyncIterator()
        #expect(try await iterator?.next()?.sequence == 0)
        frames = nil
        // Only the iterator still holds it.
        #expect(try await iterator?.next()?.sequence == 1)
        #expect(capturer.statistics.sinks.map(\.isAttached) == [true])
        iterator = nil
        #expect(await end(events)?.name == "frames")
        #expect(capturer.statistics.sinks.map(\.isAttached) == [false])
        // The supervisor's queue learns of the first frame after its delivery, and a busy machine may already report
        // the hang as a stall; either way the run continues.
        #expect([.opening, .live, .stalled].contains(capturer.state))
        capturer.stop()
        #expect(try await reason == .cancelled)
    }

    @Test("A sequence that was never iterated is detached when it is released")
    func neverIterated() async throws {
        let capturer = capturer(.frames(3) + [.hang])
        let events = capturer.events
        var frames: FrameSequence? = capturer.frames()
        #expect(frames != nil)
        frames = nil
        #expect(await end(events)?.name == "frames")
        #expect(capturer.statistics.sinks.map(\.isAttached) == [false])
    }

    @Test("Cancelling the task that waits for a frame detaches its sequence and ends its loop without an error")
    func cancelled() async throws {
        let capturer = capturer(.frames(2) + [.hang])
        let events = capturer.events
        let frames = capturer.frames(queue: .lossless(4))
        async let reason = capturer.run()
        let (taken, continuation) = AsyncStream.makeStream(of: UInt64.self)
        let task = Task {
            for try await frame in frames { continuation.yield(frame.sequence) }
        }
        for await sequence in taken where sequence == 1 { break }
        task.cancel()
        try await task.value
        #expect(await end(events)?.name == "frames")
        // The sequence still exists, and has ended.
        var iterator = frames.makeAsyncIterator()
        #expect(try await iterator.next() == nil)
        capturer.stop()
        #expect(try await reason == .cancelled)
    }

    @Test("Tasks that share a sequence all come to its end", arguments: [true, false])
    func shared(stops: Bool) async throws {
        let gate = Gate()
        let last: [ScriptedSource.Step] = [
            .make { number in
                gate.pass()
                throw InletError(.cancelled, "That was frame \(number).")
            }
        ]
        let capturer = capturer(.frames(20) + (stops ? [.hang] : last))
        let frames = capturer.frames(queue: .lossless(4))
        async let reason = try? capturer.run()
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var count = 0
                    do { for try await _ in frames { count += 1 } } catch {}
                    return count
                }
            }
            await Waiting.until { capturer.statistics.delivered >= 20 }
            if stops { capturer.stop() } else { gate.open() }
            return await group.reduce(0, +)
        }
        #expect(taken == 20)
        #expect(await reason == (stops ? .cancelled : nil))
    }

    @Test("Impossible requirements end the loop with an error")
    func badWants() async throws {
        let capturer = capturer(.frames(3) + [.hang])
        let events = capturer.events
        await #expect {
            try await capturer.run(wants: SinkWants(size: ImageSize(width: -1, height: 1))) { frames in
                for try await _ in frames {}
            }
        } throws: { ($0 as? InletError)?.code == .invalidConfiguration }
        #expect(await end(events)?.error?.code == .invalidConfiguration)
    }

    @Test("Frames too small for the wanted part are skipped")
    func shrinkingSource() async throws {
        let small = ScriptedFrame(pts: 1, size: ImageSize(width: 16, height: 16))
        let capturer = capturer([
            .frame(ScriptedFrame(pts: 0)), .frame(small), .frame(ScriptedFrame(pts: 2)),
        ])
        let wants = SinkWants(crop: .exact(ImageRect(x: 16, y: 16, width: 32, height: 32)))
        let sequences = try await capturer.run(queue: .lossless(), wants: wants) { frames in
            var seen: [UInt64] = []
            for try await frame in frames { seen.append(frame.sequence) }
            return seen
        }
        #expect(sequences == [0, 2])
        #expect(capturer.statistics.drops == [.outsidePicture: 1])
    }
}
