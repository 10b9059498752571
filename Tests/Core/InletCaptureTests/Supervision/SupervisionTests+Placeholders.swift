import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Testing

/// The frames that sinks get while the source has none.
extension SupervisionTests {
    @Test(
        "Placeholders fill an outage, are marked as such, and end with the first frame",
        arguments: [
            OutagePolicy.Picture.hold, .black, .text,
        ])
    func placeholders(_ picture: OutagePolicy.Picture) async throws {
        var configuration = Self.quick()
        configuration.outage = OutagePolicy(picture, frameRate: Rational(100))
        configuration.timeouts.nextFrame = .seconds(60)
        configuration.timeouts.stall = .milliseconds(300)
        let run = await play(
            [Script(format: Self.live, .frames(2) + [.stall(.milliseconds(1005))] + .frames(2))], configuration,
            queue: .lossless(100))
        expectIncreasing(run.log)
        let flags = run.log.frames.map { $0.flags.contains(.placeholder) }
        #expect(flags.prefix(2) == [false, false] && flags.suffix(2) == [false, false])
        let shown = run.log.frames.filter { $0.flags.contains(.placeholder) }
        // A hundred a second, from 300 ms to a second.
        #expect(shown.count == 71)
        #expect(flags.dropFirst(2).dropLast(2).allSatisfy { $0 })
        #expect(UInt64(shown.count) == run.capturer.statistics.supervision.placeholders)
        #expect(shown.allSatisfy { $0.size == ImageSize(width: 64, height: 48) && $0.pts == nil })
        let luma: UInt8 =
            switch picture {
            case .hold: ScriptedFrame.luma(sequence: 1)
            case .black: 16
            default: 40
            }
        #expect(shown.allSatisfy { $0.firstLuma == luma })
    }

    @Test(
        "Before the source is open a sink with a size gets placeholders; others get the source's format and queue"
    )
    func placeholdersBeforeOpening() async throws {
        let opening = Gate()
        let script = Script(
            opening: [
                .make { number in
                    opening.pass()
                    return try Self.picture(number)
                }
            ], .frames(100))
        var configuration = Self.quick()
        configuration.outage = OutagePolicy(.text, frameRate: Rational(200))
        configuration.timeouts.open = .seconds(60)
        let clock = ManualClock()
        let capturer = Capturer(ScriptedSourceConfiguration(script), configuration: configuration, clock: clock)
        let (plain, sized) = (RecordingSink.Log(), RecordingSink.Log())
        let small = ImageSize(width: 32, height: 24)
        capturer.attach(RecordingSink(log: plain))
        capturer.attach(RecordingSink(wants: SinkWants(size: small), log: sized))
        async let reason = capturer.run()
        while sized.frames.count < 3 { await clock.run(for: .milliseconds(5)) }
        #expect(plain.events.isEmpty)
        opening.open()
        #expect(try await reason == .endOfStream)
        // The default queue of a source that is not live loses nothing.
        #expect(plain.frames.filter { !$0.flags.contains(.placeholder) }.count == 100)
        #expect(sized.frames.filter { !$0.flags.contains(.placeholder) }.count == 100)
        #expect(plain.formats.map(\.size) == [Self.live.size] && sized.formats.map(\.size) == [small])
        expectIncreasing(plain)
        expectIncreasing(sized)
    }

    @Test("A disabled track shows its picture neither before the run, nor in a pause, nor after the end")
    func disabledPicture() async throws {
        var configuration = Self.quick()
        configuration.disabledPicture = .black
        configuration.outage.frameRate = Rational(500)
        let source = ScriptedSourceConfiguration(Script(format: Self.live, standsStill: true, .frames(1) + [.hang]))
        configuration.timeouts.nextFrame = .seconds(60)
        let clock = ManualClock()
        let capturer = Capturer(source, configuration: configuration, clock: clock)
        let log = RecordingSink.Log()
        capturer.attach(RecordingSink(wants: SinkWants(size: Self.live.size), log: log))
        var shown: UInt64 { capturer.statistics.supervision.placeholders }
        capturer.setEnabled(false)
        capturer.pause()
        async let reason = capturer.run()
        await Waiting.until { capturer.state == .paused }
        await clock.run(for: .milliseconds(100))
        #expect(shown == 0)
        capturer.resume()
        while shown < 3 { await clock.run(for: .milliseconds(2)) }
        capturer.pause()
        await Waiting.until { capturer.state == .paused }
        await clock.settle()
        let before = shown
        await clock.run(for: .milliseconds(100))
        #expect(shown == before)
        capturer.stop()
        #expect(try await reason == .cancelled)
        let after = shown
        await clock.run(for: .milliseconds(100))
        #expect(shown == after)
    }

    @Test("Without a policy an outage shows nothing")
    func noPlaceholders() async throws {
        let run = await play([
            Script(format: Self.live, .frames(2) + [.stall(.milliseconds(300))]), Script(format: Self.live, .frames(2)),
        ])
        #expect(run.log.frames.allSatisfy { !$0.flags.contains(.placeholder) })
        #expect(run.capturer.statistics.supervision.placeholders == 0)
    }
}
