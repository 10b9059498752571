import InletCore
import InletTesting
import Logging
import Testing

struct ScriptedSourceTests {
    private let clock = ManualClock(waiting: .movesTime)

    private func context() -> SourceContext { SourceContext(clock: clock, logger: Logger(label: "test")) }

    @Test("steps run in order, and frames have the given properties")
    func order() throws {
        let failure = InletError(.disconnected, "gone")
        let configuration = ScriptedSourceConfiguration(
            ScriptedSource.Script([
                .frame(ScriptedFrame(pts: 5, duration: 2)), .sleep(.seconds(2)), .drop(.damaged, 3),
                .frame(
                    ScriptedFrame(
                        pts: nil, size: ImageSize(width: 8, height: 6), sequence: 9, flags: .corrupt,
                        rotation: .clockwise90)), .fail(failure),
            ]))
        let context = context()
        let source = configuration.makeSource()
        let format = try source.open(context)
        let first = try #require(try source.next(context)?.frame)
        #expect(first.pts == MediaTime(ticks: 5, timeBase: format.timeBase))
        #expect(first.duration?.ticks == 2)
        #expect(first.sequence == 0)
        #expect(first.size == format.size)
        let start = clock.now
        let second = try #require(try source.next(context)?.frame)
        #expect(clock.now - start == .seconds(2))
        #expect(context.dropCounts == [.damaged: 3])
        #expect(second.pts == nil && second.sequence == 9 && second.flags == .corrupt)
        #expect(second.size == ImageSize(width: 8, height: 6))
        #expect(second.rotation == .clockwise90)
        let picture = try #require(second.owner as? I420Buffer)
        let luma = picture.row(0, of: .y)[0]
        #expect(luma == ScriptedFrame.luma(sequence: 9))
        let error = #expect(throws: InletError.self) { try source.next(context) }
        #expect(error?.code == .disconnected)
        #expect(try source.next(context) == nil)
        source.close()
        #expect(configuration.log.calls == [.made, .open, .next, .next, .next, .next, .close])
    }

    @Test("each new source follows the next script, and the last script is repeated")
    func scripts() throws {
        let configuration = ScriptedSourceConfiguration([
            ScriptedSource.Script(opening: [.fail(InletError(.notFound, "no"))], []), ScriptedSource.Script(.frames(2)),
        ])
        #expect(throws: InletError.self) { try configuration.makeSource().open(context()) }
        for _ in 0..<2 {
            let source = configuration.makeSource()
            let context = context()
            _ = try source.open(context)
            #expect(try source.next(context)?.frame?.sequence == 0)
            #expect(try source.next(context)?.frame?.sequence == 1)
            #expect(try source.next(context) == nil)
        }
        #expect(configuration.log.count(of: .open) == 3)
    }

    @Test("a source that hangs can be cancelled and keeps deadlines; one that ignores both does not end early")
    func hanging() throws {
        let source = ScriptedSourceConfiguration(
            ScriptedSource.Script([.hang, .hang, .ignoreCancellation(.seconds(3)), .end])
        ).makeSource()
        let context = context()
        _ = try source.open(context)
        context.setDeadline(after: .seconds(7))
        let late = #expect(throws: InletError.self) { try source.next(context) }
        #expect(late?.code == .timedOut)
        context.clearDeadline()
        context.cancel()
        let stopped = #expect(throws: InletError.self) { try source.next(context) }
        #expect(stopped?.code == .cancelled)
        let start = clock.now
        #expect(try source.next(context) == nil)
        #expect(clock.now - start == .seconds(3))
    }

    @Test("a script with valid frames keeps the source contract")
    func conformance() async {
        var suite = SourceConformance()
        suite.isDeterministic = true
        #expect(await suite.check(ScriptedSourceConfiguration(ScriptedSource.Script(.frames(20)))) == [])
    }
}
