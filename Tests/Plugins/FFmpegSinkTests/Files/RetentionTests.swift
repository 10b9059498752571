import Foundation
import InletCore
import InletOutput
import ReferenceTools
import Testing

@testable import FFmpegSink

/// The choice of files to delete: by the recorder's notes, whatever the clocks and file times are.
@Suite(.tags(.encoder), .blocking) struct RetentionTests {
    private static let hour: Int64 = 3_600_000_000_000
    /// 2025-06-01.
    private static let june: Int64 = 1_748_736_000_000_000_000
    /// An hour after this start of the machine.
    private static let now = RecorderTime(boot: "now", sinceBoot: hour, sinceEpoch: june)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A file of 10 bytes.
    private static func file(_ pattern: FileNamePattern, _ name: String, _ mark: RecordingMark? = nil) throws
        -> Retention.File
    {
        Retention.File(path: name, match: try #require(pattern.match(name)), byteCount: 10, mark: mark)
    }

    /// A note of an earlier start of the machine, that many hours ago by the clock.
    private static func earlier(_ event: RecordingMark.Event, hours: Int64, boot: String = "before") -> RecordingMark {
        RecordingMark(event, at: RecorderTime(boot: boot, sinceBoot: 5, sinceEpoch: june - hours * hour))
    }

    /// A note of this start, that many minutes ago, with a meaningless time of day.
    private static func today(_ event: RecordingMark.Event, minutes: Int64, hoursByClock: Int64 = 0) -> RecordingMark {
        let time = RecorderTime(
            boot: "now", sinceBoot: hour - minutes * 60_000_000_000, sinceEpoch: june - hoursByClock * hour)
        return RecordingMark(event, at: time)
    }

    /// Hours of age in the files' order.
    private static func ages(_ marks: [RecordingMark?]) throws -> [Int64] {
        let pattern = try FileNamePattern("{n:1}")
        let files = try marks.enumerated().map { try file(pattern, "\($0 + 1)", $1) }
        return Retention.ages(files, now: now).map { $0.wholeNanoseconds / hour }
    }

    @Test("A file's age is that of its end note, or else of the beginning of the next file")
    func notes() throws {
        #expect(try Self.ages([Self.earlier(.ended, hours: 30), Self.earlier(.ended, hours: 20)]) == [30, 20])
        // The first and the third were killed.
        #expect(
            try Self.ages([
                Self.earlier(.begun, hours: 40), Self.earlier(.begun, hours: 30), Self.earlier(.ended, hours: 20),
                Self.earlier(.begun, hours: 20), Self.today(.begun, minutes: 0),
            ]) == [30, 20, 20, 0, 0])
    }

    @Test("A clock that was set in between makes no fresh file old, and a wrong one keeps files longer")
    func clocks() throws {
        // Recorded in this start while the clock was in 1970, or a year off.
        #expect(try Self.ages([Self.today(.ended, minutes: 10, hoursByClock: 485_000)]) == [0])
        #expect(try Self.ages([Self.today(.ended, minutes: 10, hoursByClock: -8760)]) == [0])
        // An earlier start without a clock: as old as the file after it.
        #expect(
            try Self.ages([
                Self.earlier(.ended, hours: 50), Self.earlier(.ended, hours: 485_000),
                Self.earlier(.ended, hours: 40, boot: "between"),
            ]) == [50, 40, 40])
        // A file with a clock a year behind cannot be older than the file before it.
        #expect(try Self.ages([Self.earlier(.ended, hours: 50), Self.earlier(.ended, hours: 8760)]) == [50, 50])
        // A file with a clock in the future.
        #expect(
            try Self.ages([
                Self.earlier(.ended, hours: 50), Self.earlier(.ended, hours: -8760), Self.earlier(.ended, hours: 30),
            ]) == [50, 30, 30])
        // Files without notes are as old as the first later file with one.
        #expect(try Self.ages([nil, nil, Self.earlier(.begun, hours: 7), nil]) == [7, 7, 0, 0])
    }

    @Test("Without notes, the times in names count")
    func timesInNames() throws {
        let pattern = try FileNamePattern("{utc}.mp4")
        let files = try ["20250530T000000.000Z.mp4", "20250530T010000.000Z.mp4", "20250531T230000.000Z.mp4"]
            .map { try Self.file(pattern, $0) }
        #expect(Retention.ages(files, now: Self.now).map { $0.wholeNanoseconds / Self.hour } == [47, 1, 0])
    }

    @Test("Files are ordered by number; without one, those of this start come last, in their own order")
    func order() throws {
        let numbered = try FileNamePattern("a-{n}.mp4")
        let files = try ["a-1000000.mp4", "a-000009.mp4", "a-000010.mp4"].map { try Self.file(numbered, $0) }
        #expect(
            Retention.ordered(files, byNumber: true, now: Self.now).map(\.path) == [
                "a-000009.mp4", "a-000010.mp4", "a-1000000.mp4",
            ])
        let timed = try FileNamePattern("{utc}.mp4")
        let others = try [
            ("20380101T000000.000Z.mp4", nil), ("20250101T000000.000Z.mp4", Self.today(.ended, minutes: 1)),
            ("19700101T000100.000Z.mp4", Self.today(.ended, minutes: 2)), ("20250601T000000.000Z.mp4", nil),
            ("20250601T000000.000Z-2.mp4", nil),
        ].map { try Self.file(timed, $0, $1) }
        #expect(
            Retention.ordered(others, byNumber: false, now: Self.now).map(\.path) == [
                "20250601T000000.000Z.mp4", "20250601T000000.000Z-2.mp4", "20380101T000000.000Z.mp4",
                "19700101T000100.000Z.mp4", "20250101T000000.000Z.mp4",
            ])
    }

    @Test("The oldest files are deleted, as many as necessary, except the open one and those that cannot be deleted")
    func deleting() throws {
        let pattern = try FileNamePattern("{n:1}")
        let files = try (1...5).map { try Self.file(pattern, "\($0)", Self.earlier(.ended, hours: 6 - Int64($0))) }
        func gone(_ retention: Retention, current: String? = "5", freeing: Int = 0, kept: Set<String> = []) -> [String]
        {
            retention.apply(to: files, current: current, now: Self.now, freeing: freeing) { !kept.contains($0) }
        }
        #expect(gone(Retention(keptSize: 50)) == [])
        #expect(gone(Retention(keptSize: 30)) == ["1", "2"])
        #expect(gone(Retention(keptSize: 0)) == ["1", "2", "3", "4"])
        #expect(gone(Retention(keptSize: 30), kept: ["1"]) == ["2", "3"])
        #expect(gone(Retention(keptAge: .seconds(3 * 3600))) == ["1", "2"])
        #expect(gone(Retention(keptAge: .seconds(3 * 3600)), freeing: 25) == ["1", "2", "3"])
        #expect(gone(Retention(keptSize: 100, keptAge: .seconds(99 * 3600))) == [])
        var sparse = files
        for index in 1...3 { sparse[index].byteCount = .max }
        let all = Retention(keptSize: 30).apply(to: sparse, current: nil, now: Self.now, freeing: 0) { _ in true }
        #expect(all == ["1", "2", "3", "4"])
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted()
    }

    private func date(_ name: String, _ seconds: Double) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: seconds)], ofItemAtPath: folder.path(name))
    }

    @Test("A recent recording is kept although older files are dated in the future, and itself in the past")
    func modificationTimes() throws {
        for number in 1...3 {
            let path = folder.path("a-00000\(number).mkv")
            try Data(repeating: 1, count: 100_000).write(to: URL(fileURLWithPath: path))
            try date("a-00000\(number).mkv", 86_400 * 365)
        }
        let configuration = try Recording.registry.sink(
            "mkv:\(folder.path("a-{n}.mkv"))?codec=ffv1&segment-size=20k&keep-size=100k&keep-age=1h")
        let pictures = try Recording.pictures(count: 20)
        for _ in 0..<2 {
            let sink = configuration.makeSink()
            try sink.start(Recording.format(pictures.size), SinkContext())
            for index in 0..<pictures.count {
                try sink.consume(Recording.frame(pictures.padded(index), index, at: Double(index) / 30))
                // As after a clock step of a day.
                for name in try names() where name > "a-000003.mkv" { try date(name, -86_400) }
            }
            try sink.finish()
        }
        let left = try names()
        #expect(left.allSatisfy { $0 > "a-000003.mkv" }, "\(left)")
        let numbers = left.compactMap { Int($0.dropFirst(2).prefix(6)) }
        let last = try #require(numbers.last)
        // The newest, without a gap.
        #expect(numbers == Array(last - numbers.count + 1...last) && numbers.count >= 4, "\(left)")
    }

    @Test("A restarted run knows from its notes how old the files of the one before are")
    func nextRun() throws {
        func run() throws {
            try Recording.write(Recording.pictures(count: 2), to: "mp4:\(folder.path("b-{n}.mp4"))?keep-age=1h")
        }
        for _ in 0..<3 { try run() }
        #expect(try names() == ["b-000001.mp4", "b-000002.mp4", "b-000003.mp4"])
        let now = RecorderTime.now
        for (number, age) in [(1, 2 * Self.hour), (2, Self.hour / 2), (3, 0)] {
            try date("b-00000\(number).mp4", -86_400)
            let handle = try #require(FileHandle(forUpdatingAtPath: folder.path("b-00000\(number).mp4")))
            // A machine that started recently was not running two hours ago.
            RecordingMark(.ended, at: RecorderTime(boot: "before", sinceBoot: 0, sinceEpoch: now.sinceEpoch - age))
                .write(to: handle.fileDescriptor)
        }
        try run()
        #expect(try names() == ["b-000002.mp4", "b-000003.mp4", "b-000004.mp4"])
    }
}
