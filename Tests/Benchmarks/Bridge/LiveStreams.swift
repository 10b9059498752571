import Inlet
import Synchronization

/// Any number of live RTSP streams at once, each with a sink that records the number and time of each picture. The
/// first stream also goes to a packet recorder.
///
/// The server's RTP-Info gives the first picture of a stream the time 0, so a picture's PTS is its number.
/// `Scripts/bench-lag` knows the time and the content of each sent picture, and compares them.
enum LiveStreams {
    /// Prints one line per picture: stream, PTS in 90 kHz, CLOCK_MONOTONIC nanoseconds, and a sum over some of its
    /// luma.
    static func measure(_ address: String, streams: Range<Int>, seconds: Int) async throws {
        let capturers = try streams.map { index in
            var configuration = CapturerConfiguration.quiet
            configuration.durationLimit = nil
            return Capturer(
                try PluginRegistry.standard.source("\(address)/\(index)?transport=tcp"), configuration: configuration)
        }
        let notes = capturers.map { capturer in
            let notes = Notes()
            capturer.attach(NotingSink(notes))
            return notes
        }
        let recorder = PacketCounter()
        capturers[0].attach(recorder)
        let before = ProcessFigures.now()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for capturer in capturers { group.addTask { _ = try await capturer.run() } }
            try await Task.sleep(for: .seconds(seconds))
            for capturer in capturers { capturer.stop() }
            try await group.waitForAll()
        }
        let after = ProcessFigures.now()
        var text = ""
        for (index, notes) in zip(streams, notes) {
            for note in notes.all.withLock({ $0 }) { text += "\(index) \(note.pts) \(note.time) \(note.sum)\n" }
        }
        print(text, terminator: "")
        let statistics = capturers.map(\.statistics)
        func drops(_ reason: DropReason) -> Double { statistics.reduce(0) { $0 + Double($1.drops[reason] ?? 0) } }
        report(
            "live streams",
            [
                "late": drops(.late), "damaged": drops(.damaged), "superseded": drops(.superseded),
                "recorded": Double(recorder.count.packets.load(ordering: .relaxed)),
                "cpu_s": after.cpuSeconds - before.cpuSeconds,
            ])
    }

    private final class Notes: Sendable {
        let all = Mutex<[(pts: Int64, time: Int64, sum: Int)]>([])
    }

    private final class NotingSink: FrameSink {
        private let notes: Notes
        init(_ notes: Notes) { self.notes = notes }

        func consume(_ frame: VideoFrame) {
            let now = SystemClock().now.nanoseconds
            let pts = frame.pts?.rescaled(to: Rational(1, 90_000)).ticks ?? -1
            var sum = 0
            for row in stride(from: 7, to: frame.size.height, by: 97) {
                let bytes = frame.buffer.row(row, of: .y)
                for index in bytes.indices { sum &+= Int(bytes[index]) }
            }
            notes.all.withLock { $0.append((pts, now, sum)) }
        }
    }

    private struct PacketCounter: PacketSinkConfiguration {
        let redactedURI = "count:"
        let count = Count()
        final class Count: Sendable { let packets = Atomic(0) }

        func makeSink() -> any FrameSink { CountingSink() }
        func makePacketSink() -> any PacketSink { Sink(count) }

        private final class Sink: PacketSink {
            private let count: Count
            init(_ count: Count) { self.count = count }
            func start(_ parameters: CodecParameters) {}
            func write(_ packet: EncodedPacket) { count.packets.add(1, ordering: .relaxed) }
            func finish() {}
        }
    }
}
