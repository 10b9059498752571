import InletCapture
import InletCore
import InletTesting
import Testing

/// The capturer as a whole, on real threads, with a source that follows a script.
@Suite(.timeLimit(.minutes(1))) struct CapturerTests {
    private func scripted(_ steps: [ScriptedSource.Step], pacing: SourcePacing = .unpaced)
        -> ScriptedSourceConfiguration
    {
        ScriptedSourceConfiguration(.init(format: ScriptedSource.format(pacing: pacing), steps))
    }

    @Test("A lossless sink gets every frame, in order, and is finished when run returns")
    func everyFrame() async throws {
        let source = scripted(.frames(100))
        let capturer = Capturer(source)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log))
        #expect(try await capturer.run() == .endOfStream)
        #expect(log.frames.map(\.sequence) == Array(0..<100))
        #expect(zip(log.frames, log.frames.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp })
        #expect(log.isFinished)
        #expect(source.log.count(of: .close) == 1)
        #expect(capturer.state == .ended(.endOfStream))
        #expect(capturer.statistics.delivered == 100)
    }

    @Test("A slow sink under latest gets the newest frame, and what it does not take is never converted")
    func latest() async throws {
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        let capturer = Capturer(scripted(.frames(200)))
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(behavior, log: log), queue: .latest)
        async let reason = capturer.run()
        await gate.someoneWaits()
        // The source needs no sink to go on: it runs to its end while the sink holds its first frame.
        while capturer.statistics.captured < 200 { await Task.yield() }
        gate.open()
        #expect(try await reason == .endOfStream)
        let statistics = capturer.statistics
        #expect(log.frames.last?.sequence == 199)
        #expect(statistics.captured == 200)
        #expect(statistics.converted == statistics.delivered)
        #expect(statistics.delivered == UInt64(log.frames.count))
        #expect(statistics.drops == [.superseded: 200 - statistics.delivered])
    }

    @Test("A sink that throws is detached with its error, and the others get everything")
    func throwingSink() async throws {
        var behavior = RecordingSink.Behavior()
        behavior.frameError = (index: 3, error: InletError(.resourceExhausted, "The disk is full."))
        let capturer = Capturer(scripted(.frames(50)))
        let (bad, good) = (RecordingSink.Log(), RecordingSink.Log())
        capturer.attach(RecordingSink(behavior, log: bad), named: "bad")
        capturer.attach(RecordingSink(log: good), named: "good")
        let events = capturer.events
        #expect(try await capturer.run() == .endOfStream)
        #expect(good.frames.count == 50)
        #expect(bad.frames.count == 3 && bad.isFinished)
        var failures: [String] = []
        for await event in events {
            if case .sinkEnded(_, let name, let error?) = event { failures.append("\(name) \(error.code)") }
        }
        #expect(failures == ["bad resourceExhausted"])
    }

    @Test("A stuck sink stops neither the source nor another sink, and a stop gives it up with an error that names it")
    func stuckSink() async throws {
        let gate = Gate()
        var behavior = RecordingSink.Behavior()
        behavior.gate = gate
        var configuration = CapturerConfiguration()
        configuration.stopTimeout = .milliseconds(100)
        let capturer = Capturer(scripted(.frames(50) + [.hang]), configuration: configuration)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(behavior), named: "stuck", queue: .latest)
        capturer.attach(RecordingSink(log: log), named: "quick", queue: .lossless())
        let run = Task { try await capturer.run() }
        await log.frames(atLeast: 50)
        capturer.stop()
        await #expect {
            _ = try await run.value
        } throws: {
            guard let error = $0 as? InletError else { return false }
            return error.code == .timedOut && error.message.contains("stuck") && !error.message.contains("quick")
        }
        gate.open()
    }

    @Test("frames() gives every frame to a lossless loop and ends with the stream")
    func frames() async throws {
        let capturer = Capturer(scripted(.frames(40)))
        let sequences = try await capturer.run(queue: .lossless(2)) { frames in
            var seen: [UInt64] = []
            for try await frame in frames { seen.append(frame.sequence) }
            return seen
        }
        #expect(sequences == Array(0..<40))
    }

    @Test("Leaving the loop stops the run and closes the source")
    func leaveEarly() async throws {
        let source = scripted(.frames(5) + [.hang])
        let first = try await Capturer(source).run(queue: .lossless(1)) { frames in
            for try await frame in frames { return Optional(frame.sequence) }
            return nil
        }
        #expect(first == 0)
        #expect(source.log.count(of: .close) == 1)
    }

    @Test("A source that fails ends the run and the loop with its error")
    func sourceFails() async throws {
        let capturer = Capturer(scripted(.frames(2) + [.fail(InletError(.disconnected, "The cable is out."))]))
        await #expect {
            try await capturer.run(queue: .lossless()) { frames in
                for try await _ in frames {}
            }
        } throws: { ($0 as? InletError)?.code == .disconnected }
        #expect(capturer.statistics.delivered == 2)
    }

    @Test("Cancelling the task stops a source that waits for ever, and the source is closed when run returns")
    func cancellation() async throws {
        let source = scripted(.frames(1) + [.hang])
        let capturer = Capturer(source)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(log: log))
        let task = Task { try await capturer.run() }
        await log.frames(atLeast: 1)
        task.cancel()
        #expect(try await task.value == .cancelled)
        #expect(source.log.count(of: .close) == 1)
    }

    @Test("Sinks come and go while frames flow, and several that want one size share one scaled picture")
    func attachAndDetach() async throws {
        var behavior = RecordingSink.Behavior()
        behavior.keptFrames = 1
        let wants = SinkWants(size: ImageSize(width: 32, height: 32))
        let capturer = Capturer(scripted(.frames(30) + [.hang]))
        let (a, b) = (RecordingSink.Log(), RecordingSink.Log())
        let id = capturer.attach(RecordingSink(behavior, log: a), wants: wants)
        capturer.attach(RecordingSink(behavior, log: b), wants: wants)
        async let reason = capturer.run()
        await a.frames(atLeast: 30)
        await b.frames(atLeast: 30)
        #expect(a.keptFrames.last?.buffer === b.keptFrames.last?.buffer)
        #expect(a.frames.allSatisfy { $0.size == ImageSize(width: 32, height: 32) })
        try await capturer.detach(id)
        #expect(a.isFinished && !b.isFinished)
        capturer.stop()
        #expect(try await reason == .cancelled)
        #expect(b.isFinished)
        #expect(capturer.statistics.converted == 30)
    }

    @Test("A capturer runs once")
    func once() async throws {
        let capturer = Capturer(scripted(.frames(1)))
        try await capturer.run()
        await #expect { try await capturer.run() } throws: { ($0 as? InletError)?.code == .invalidConfiguration }
    }

    @Test("Frame and duration limits end the run by name")
    func limits() async throws {
        var configuration = CapturerConfiguration()
        configuration.frameLimit = 5
        let capturer = Capturer(scripted(.frames(10)), configuration: configuration)
        #expect(try await capturer.run() == .frameLimit)
        #expect(capturer.statistics.captured == 5)
    }
}
