import InletCore
import InletTesting
import PatternSource
import ReferenceTools
import Synchronization
import Testing

@testable import InletCapture

@Suite(.timeLimit(.minutes(10))) struct SourceDemandTests {
    private static func size(_ width: Int, _ height: Int) -> ImageSize { ImageSize(width: width, height: height) }

    private static let rateCases: [([Rational?], Rational?)] = [
        ([], nil), ([nil], nil), ([Rational(5)], Rational(5)), ([Rational(5), Rational(30, 7)], Rational(5)),
        ([Rational(5), nil], nil),
        // An impossible demand ends its sink, and requests nothing.
        ([Rational(5), Rational(-1)], Rational(5)), ([Rational(0)], nil),
    ]

    @Test(
        "The demanded rate is the highest that any receiver wants, and unlimited if one has no limit",
        arguments: rateCases)
    func rates(wanted: [Rational?], expected: Rational?) {
        #expect(SourceDemand(serving: wanted.map { SinkWants(maximumFrameRate: $0) }).maximumFrameRate == expected)
    }

    private static let sizeCases: [([SinkWants], ImageSize?)] = [
        ([SinkWants()], nil),
        ([SinkWants(size: size(640, 480)), SinkWants()], nil),
        ([SinkWants(size: size(640, 480)), SinkWants(largestSize: size(320, 720))], size(640, 720)),
        // A rectangle is in pixels of the source's size.
        ([SinkWants(crop: .exact(ImageRect(x: 0, y: 0, width: 64, height: 64)), size: size(32, 32))], nil),
        ([SinkWants(crop: .center(Rational(1)))], nil),
        // The centred square of 640x640 is large enough for 640x480; that of 640x480 would be enlarged.
        ([SinkWants(crop: .center(Rational(1)), size: size(640, 480))], size(640, 640)),
        ([SinkWants(crop: .center(Rational(4, 3)), size: size(640, 480))], size(640, 480)),
        ([SinkWants(crop: .center(Rational(1)), largestSize: size(640, 480))], size(480, 480)),
        // The rotation of the source's pictures is unknown.
        ([SinkWants(size: size(640, 480), rotation: .applied)], size(640, 640)),
        ([SinkWants(size: size(640, 480), rotation: .metadata)], size(640, 480)),
    ]

    @Test("The demanded size covers the needs of every receiver", arguments: sizeCases)
    func sizes(wants: [SinkWants], expected: ImageSize?) {
        #expect(SourceDemand(serving: wants).largestSize == expected)
    }

    /// An endless source that records each demand.
    private final class Watcher: FrameSource {
        struct Configuration: FrameSourceConfiguration {
            let log = Log()
            var redactedURI: String { "watcher:" }
            func makeSource() -> any FrameSource { Watcher(log) }
        }

        final class Log: Sendable {
            let demands = Mutex([SourceDemand]())
            var newest: SourceDemand? { demands.withLock { $0.last } }
        }

        private let log: Log
        private var sequence: UInt64 = 0
        init(_ log: Log) { self.log = log }

        private func look(_ context: SourceContext) {
            let demand = context.demand
            log.demands.withLock { if $0.last != demand { $0.append(demand) } }
        }

        func open(_ context: SourceContext) throws -> SourceFormat {
            look(context)
            return ScriptedSource.format()
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            try context.checkCancellation()
            look(context)
            defer { sequence += 1 }
            var draft = try I420Draft(size: SourceDemandTests.size(16, 16))
            draft.fillBlack()
            return .frame(
                SourceFrame(
                    draft.publish(), pts: MediaTime(ticks: Int64(sequence), timeBase: Rational(1, 30)),
                    sequence: sequence))
        }

        func close() {}
    }

    @Test("The source knows the demand when it is opened, and is notified when sinks come and go")
    func hooks() async throws {
        let source = Watcher.Configuration()
        let capturer = Capturer(source)
        capturer.attach(RecordingSink(), queue: .latest, wants: SinkWants(maximumFrameRate: Rational(5)))
        async let reason = capturer.run()
        func comes(_ rate: Rational?) async {
            await Waiting.until { source.log.newest == SourceDemand(maximumFrameRate: rate) }
        }
        await comes(Rational(5))
        let quick = capturer.attach(
            RecordingSink(), queue: .latest, wants: SinkWants(maximumFrameRate: Rational(20)))
        await comes(Rational(20))
        let full = capturer.attach(RecordingSink(), queue: .latest)
        await comes(nil)
        try await capturer.detach(full)
        await comes(Rational(20))
        try await capturer.detach(quick)
        await comes(Rational(5))
        capturer.stop()
        #expect(try await reason == .cancelled)
        #expect(source.log.demands.withLock { $0.first } == SourceDemand(maximumFrameRate: Rational(5)))
    }

    @Test("A pattern draws only the frames that its sinks want, and none counts as lost or thinned out")
    func patternEndToEnd() async throws {
        let log = RecordingSink.Log()
        let capturer = Capturer(
            PatternConfiguration(.ball, size: Self.size(64, 64), frames: 90, pace: .unpaced))
        capturer.attach(RecordingSink(log: log), wants: SinkWants(maximumFrameRate: Rational(10)))
        #expect(try await capturer.run() == .endOfStream)
        #expect(log.frames.map(\.pts?.ticks) == (0..<30).map { $0 * 3 })
        #expect(log.frames.map(\.sequence) == Array(0..<30))
        #expect(capturer.statistics.captured == 30)
        #expect(capturer.statistics.drops.isEmpty)
    }
}
