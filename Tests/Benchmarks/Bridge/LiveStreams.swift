import Inlet
import Synchronization

/// Any number of live RTSP streams at once, each into a sink that notes which picture it got and when, and the first
/// into a recorder of packets, too.
///
/// The server tells by RTP-Info that the first picture of a stream has the time 0, so that a picture's PTS is its
/// number. What was sent when, and what each picture is to look like, knows `Scripts/bench-lag`, which compares.
enum LiveStreams {
    /// One line a picture: stream, PTS in 90 kHz, CLOCK_MONOTONIC nanoseconds, and a sum over some of its luma.
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
