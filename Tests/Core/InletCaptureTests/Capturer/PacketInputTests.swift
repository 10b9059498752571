import Glibc
import InletCapture
import InletCore
import InletSystem
import InletTesting
import Logging
import Synchronization
import Testing

@testable import InletDecode

@Suite(.timeLimit(.minutes(1))) struct PacketInputTests {
    /// A source of numbered packets, about one every two milliseconds, that records the calls and their threads.
    private final class Source: FrameSource {
        struct Log {
            var readers: [UInt] = []
            var calls: [String] = []
            /// The number of calls that run at once, which must never exceed one.
            var running = 0
            var overlaps = 0
        }
        let log: Record
        final class Record: Sendable { let log = Mutex(Log()) }

        private let end: (after: Int, error: InletError?)
        private let interval: Duration
        private var next = 0
        private let parameters = CodecParameters(
            codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 500))

        init(_ log: Record, end: (after: Int, error: InletError?), interval: Duration = .milliseconds(2)) {
            (self.log, self.end, self.interval) = (log, end, interval)
        }

        private func noted<Value>(_ call: String?, _ body: () throws -> Value) rethrows -> Value {
            log.log.withLock { log in
                log.readers.append(UInt(bitPattern: pthread_self().hashValue))
                if let call { log.calls.append(call) }
                log.running += 1
                log.overlaps += log.running > 1 ? 1 : 0
            }
            defer { log.log.withLock { $0.running -= 1 } }
            return try body()
        }

        func open(_ context: SourceContext) throws -> SourceFormat {
            SourceFormat(size: parameters.size, pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live)
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            try noted(nil) {
                guard next < end.after else {
                    if let error = end.error { throw error }
                    return nil
                }
                try context.sleep(until: context.clock.now + interval)
                defer { next += 1 }
                let time = MediaTime(ticks: Int64(next), timeBase: parameters.timeBase)
                return .packet(SourcePacket(parameters: parameters, data: PacketData([1]), pts: time, dts: time))
            }
        }

        func pause(_ context: SourceContext) throws -> Bool { noted("pause") { true } }
        func resume(_ context: SourceContext) throws { noted("resume") {} }
        func close() {}
    }

    private let context = SourceContext(clock: SystemClock(), logger: Logger(label: "test"))

    private func input(_ source: Source) -> PacketInput {
        PacketInput(
            source,
            readOn: DecodingSource.ReadingThread(
                start: { body in try SystemThread.start(named: "test-read", body) },
                interrupt: { [context] in context.cancel() }),
            place: ReadingPlace(calm: .milliseconds(20)), context)
    }

    /// Takes packets, checks that each number comes once and in order, and pauses for a while after each.
    ///
    /// - Parameter isEnough: called after each packet, with the number of packets so far.
    private func take(
        from input: PacketInput, next: inout Int64, away: Duration, until isEnough: (_ taken: Int64) -> Bool
    ) throws {
        repeat {
            let taken = try #require(try input.take())
            #expect(taken.packet.pts?.ticks == next)
            next += 1
            if away > .zero { try context.sleep(until: context.clock.now + away) }
        } while !isEnough(next)
    }

    private func threads(_ record: Source.Record) -> Int { record.log.withLock { Set($0.readers).count } }
    private func lastReader(_ record: Source.Record) -> UInt? { record.log.withLock { $0.readers.last } }

    @Test("A slow decoder uses a reading thread, a fast one reads itself, and no packet is lost at the change")
    func changes() throws {
        let record = Source.Record()
        let input = input(Source(record, end: (.max, nil)))
        var next: Int64 = 0
        try take(from: input, next: &next, away: .zero) { _ in true }
        let own = lastReader(record)
        for _ in 0..<5 {
            try take(from: input, next: &next, away: .milliseconds(25)) { _ in lastReader(record) != own }
            try take(from: input, next: &next, away: .zero) { _ in lastReader(record) == own }
        }
        input.stop()
        #expect(threads(record) == 2)
        #expect(record.log.withLock { $0.overlaps } == 0)
    }

    @Test("A packet that waited has the time at which it was read, if its source states none")
    func receiveTime() throws {
        let record = Source.Record()
        let input = input(Source(record, end: (.max, nil)))
        var next: Int64 = 0
        try take(from: input, next: &next, away: .zero) { _ in true }
        let own = lastReader(record)
        try take(from: input, next: &next, away: .milliseconds(25)) { _ in lastReader(record) != own }
        for _ in 0..<5 {
            try context.sleep(until: context.clock.now + .milliseconds(25))
            let asked = context.clock.now
            let taken = try #require(try input.take())
            let read = try #require(taken.packet.receiveTime)
            // Packets that wait were read before this one was taken.
            #expect(taken.waiting == 0 || read <= asked)
        }
        input.stop()
    }

    @Test("A pause reaches the source on whichever thread reads", arguments: [false, true])
    func pause(isApart: Bool) throws {
        let record = Source.Record()
        let input = input(Source(record, end: (.max, nil)))
        var next: Int64 = 0
        try take(from: input, next: &next, away: .zero) { _ in true }
        if isApart {
            let own = lastReader(record)
            try take(from: input, next: &next, away: .milliseconds(25)) { _ in lastReader(record) != own }
        }
        #expect(try input.pause())
        let readers = record.log.withLock { $0.readers.count }
        try context.sleep(until: context.clock.now + .milliseconds(20))
        #expect(record.log.withLock { $0.readers.count } == readers)
        try input.resume()
        // Packets that were read and not taken are discarded.
        next = try #require(try input.take()?.packet.pts?.ticks) + 1
        try take(from: input, next: &next, away: .zero) { _ in true }
        input.stop()
        #expect(record.log.withLock { $0.calls } == ["pause", "resume"])
    }

    @Test("A pause reaches a thread that has passed the source to the other one, which does not know yet")
    func pauseInBetween() throws {
        let record = Source.Record()
        let input = input(Source(record, end: (.max, nil), interval: .milliseconds(60)))
        var next: Int64 = 0
        try take(from: input, next: &next, away: .zero) { _ in true }
        let own = lastReader(record)
        try take(from: input, next: &next, away: .milliseconds(70)) { _ in lastReader(record) != own }
        // The reading thread is inside the source nearly all the time.
        try take(from: input, next: &next, away: .milliseconds(5)) { _ in
            record.log.withLock { $0.running == 0 && $0.readers.last != own }
        }
        #expect(try input.pause())
        try input.resume()
        for _ in 0..<2 {
            try take(from: input, next: &next, away: .milliseconds(70)) { _ in lastReader(record) != own }
            try take(from: input, next: &next, away: .zero) { _ in lastReader(record) == own }
        }
        input.stop()
        #expect(record.log.withLock { $0.calls } == ["pause", "resume"])
        #expect(record.log.withLock { $0.overlaps } == 0)
    }

    @Test("The end, or the error, is reported after the last packet", arguments: [false, true], [false, true])
    func end(isApart: Bool, fails: Bool) throws {
        let record = Source.Record()
        let input = input(Source(record, end: (40, fails ? InletError(.disconnected, "gone") : nil)))
        var next: Int64 = 0
        try take(from: input, next: &next, away: isApart ? .milliseconds(25) : .zero) { $0 == 40 }
        if fails {
            #expect(throws: InletError.self) { try input.take() }
        } else {
            #expect(try input.take() == nil)
            #expect(try input.pause())
        }
        input.stop()
    }
}
