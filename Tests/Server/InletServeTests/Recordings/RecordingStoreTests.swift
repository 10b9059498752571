import Foundation
import InletCore
import InletOutput
import Logging
import ReferenceTools
import Testing

@testable import InletServe

/// Recordings in their folder: their order, and the choice of which to delete. Foundation counts the files on the disk.
@Suite struct RecordingStoreTests {
    private let folder: TemporaryFolder
    private let lanes = FileLanes()

    init() throws { folder = try TemporaryFolder() }

    /// Appends the bytes of packets to a file.
    private final class File: PacketSink {
        private let handle: FileHandle

        init(_ path: String) throws {
            try Data().write(to: URL(fileURLWithPath: path))
            handle = try #require(FileHandle(forWritingAtPath: path))
        }

        func start(_: CodecParameters) {}
        func write(_ packet: EncodedPacket) { handle.write(Data(count: packet.data.count)) }
        func finish() { try? handle.close() }
    }

    private func store() throws -> RecordingStore {
        RecordingStore(
            try RecordingFolder(folder.path("recordings"), camera: "door"), lane: lanes.lane(of: "test"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func settings(keeping size: Int, longest: Duration = .seconds(3600)) -> RecordSettings {
        var settings = RecordSettings()
        (settings.keptSize, settings.longest, settings.before) = (size, longest, .zero)
        return settings
    }

    private func writer(
        _ store: RecordingStore, _ settings: RecordSettings, until end: Duration = .seconds(1_000_000),
        report: @escaping (String, String) -> Void = { _, _ in }
    ) -> RecordingWriter {
        let ticket = RecordingTicket(
            camera: "door", cause: "api", asked: 1, end: MonotonicTime(nanoseconds: 0) + end)
        return RecordingWriter(
            ticket, in: store, settings, makeFile: { try File(store.folder.path(of: $0)) }, report: report)
    }

    /// A packet of a camera with 10 pictures a second.
    private func packet(_ number: Int, bytes: Int, isKey: Bool = true, wallClock: Int64? = nil) -> EncodedPacket {
        let time = MediaTime(ticks: Int64(number) * 100_000_000, timeBase: Rational(1, 1_000_000_000))
        return EncodedPacket(
            data: PacketData([UInt8](repeating: 0, count: bytes)), pts: time, dts: time, isKey: isKey,
            captureTime: MonotonicTime(nanoseconds: time.ticks), wallClock: wallClock)
    }

    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 64), timeBase: Rational(1, 1_000_000_000))

    private func record(_ store: RecordingStore, _ settings: RecordSettings, bytes: Int, at time: Int64) throws {
        let writer = writer(store, settings)
        try writer.start(Self.parameters)
        try writer.write(packet(0, bytes: bytes, wallClock: time))
        try writer.finish()
    }

    private var files: [String: Int] {
        get throws {
            let path = folder.path("recordings/door")
            return Dictionary(
                uniqueKeysWithValues: try FileManager.default.contentsOfDirectory(atPath: path).map { name in
                    let facts = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
                    return (name, facts[.size] as? Int ?? 0)
                })
        }
    }

    private func names(_ store: RecordingStore, newestFirst: Bool = false, limit: Int = 1000) -> [String] {
        store.page(after: nil, isNewestFirst: newestFirst, limit: limit, isCancelled: { false }).items
            .map(\.entry.name)
    }

    /// 2026-01-01, in nanoseconds since 1970.
    private static let today: Int64 = 1_767_225_600_000_000_000
    private static let day: Int64 = 86_400_000_000_000

    @Test(
        "The oldest recording is the one made first, whatever the clocks of the camera and the machine show",
        arguments: [
            ("not set", [today, 0, 5_000_000_000]), ("before 1970", [today, -315_619_200_000_000_000, -1]),
            ("far ahead", [2_145_916_800_000_000_000, today, today + 1_000_000]),
            ("set back by a day", [today, today - day, today - day + 1_000_000]),
            ("standing still", [today, today, today]),
            ("set ahead by a day", [today, today + day, today + day + 1_000_000]),
        ])
    func order(_ clock: String, _ times: [Int64]) throws {
        let store = try store()
        let settings = settings(keeping: 35_000)
        for time in times { try record(store, settings, bytes: 10_000, at: time) }
        let made = names(store)
        #expect(made.count == 3 && Set(made).count == 3)
        #expect(names(try self.store()) == made, "after a restart")
        #expect(names(store, newestFirst: true) == made.reversed())
        try record(store, settings, bytes: 10_000, at: times[2])
        // The first one has made room for the fourth, and its note is gone, too.
        #expect(names(store).prefix(2) == made.dropFirst() && names(store).count == 3)
        #expect(try files.keys.allSatisfy { !$0.hasPrefix(made[0]) })
        let again = try self.store()
        try record(again, settings, bytes: 10_000, at: times[1])
        #expect(names(again).first == made[2] && names(again).count == 3, "of another run of the daemon")
    }

    @Test("Notes count, and all files together stay within the limit")
    func notes() throws {
        let store = try store()
        let settings = settings(keeping: 20_000)
        for number in 0..<100 {
            try record(store, settings, bytes: 100, at: Self.today + Int64(number) * 1_000_000_000)
            #expect(try files.values.reduce(0, +) <= 20_000)
        }
        // With notes of 300 to 400 bytes.
        #expect((30...60).contains(names(store).count), "\(names(store).count)")
    }

    @Test("A long recording continues within the limit: its oldest parts are deleted, and no picture between is lost")
    func long() throws {
        let store = try store()
        var events: [String] = []
        let writer = writer(store, settings(keeping: 100_000)) { kind, _ in events.append(kind) }
        try writer.start(Self.parameters)
        for number in 0..<1000 {
            try writer.write(packet(number, bytes: 1000, isKey: number % 5 == 0))
            #expect(try files.values.reduce(0, +) <= 106_000)
        }
        try writer.finish()
        let sizes = try names(store).map { try #require(files[$0]) }
        // Parts of a quarter of the limit and up to a group of pictures.
        #expect(sizes.count >= 3 && sizes.dropLast().allSatisfy { (25_000...31_000).contains($0) }, "\(sizes)")
        #expect(try files.values.reduce(0, +) <= 100_000)
        #expect(!events.contains("recording-failed"))
    }

    @Test("A recording without key frames ends at the limit, states why, and is kept")
    func single() throws {
        let store = try store()
        try record(store, settings(keeping: 100_000), bytes: 50_000, at: Self.today)
        var failures: [String] = []
        let writer = writer(store, settings(keeping: 100_000)) { kind, text in
            if kind == "recording-failed" { failures.append(text) }
        }
        try writer.start(Self.parameters)
        #expect(throws: SinkStopped.self) {
            for number in 0..<1000 { try writer.write(packet(number, bytes: 1000, isKey: number == 0)) }
        }
        #expect(failures.count == 1 && failures[0].contains("keep-size"), "\(failures)")
        let left = names(store)
        #expect(left.count == 1)
        // The one before was the last to end until then, and is kept as well.
        #expect(try #require(files[left[0]]) > 45_000, "what was just recorded stays")
    }

    @Test("A recording over the longest time continues in another file, which begins with the next key frame")
    func longest() throws {
        let store = try store()
        let writer = writer(store, settings(keeping: 10_000_000, longest: .seconds(10)), until: .seconds(25))
        try writer.start(Self.parameters)
        #expect(throws: SinkStopped.self) {
            for number in 0..<300 { try writer.write(packet(number, bytes: 10, isKey: number % 20 == 0)) }
        }
        try writer.finish()
        #expect(try names(store).map { try #require(files[$0]) } == [1000, 1000, 500])
    }

    @Test("A recording over its longest time, or over a quarter of the limit, requests a key frame for the next file")
    func requests() throws {
        for (size, longest, first) in [(10_000_000, 10, 100), (40_000, 3600, 99)] {
            let store = try store()
            let writer = writer(store, settings(keeping: size, longest: .seconds(longest)))
            try writer.start(Self.parameters)
            for number in 0..<150 {
                try writer.write(packet(number, bytes: 100, isKey: number == 0))
                #expect(writer.wantsKeyFrame == (number >= first), "\(number)")
            }
            try writer.write(packet(150, bytes: 100, isKey: true))
            #expect(!writer.wantsKeyFrame)
            try writer.finish()
            #expect(!writer.wantsKeyFrame)
        }
    }

    @Test("The list is paged; deleting a recording in between does not disturb the pages", arguments: [false, true])
    func parts(newestFirst: Bool) throws {
        let store = try store()
        for number in 0..<25 {
            try record(store, settings(keeping: 1 << 30), bytes: 10, at: Self.today + Int64(number) * 1_000_000)
        }
        let all = names(store, newestFirst: newestFirst)
        var (seen, cursor): ([String], RecordingStore.Cursor?) = ([], nil)
        repeat {
            let page = store.page(after: cursor, isNewestFirst: newestFirst, limit: 10, isCancelled: { false })
            seen += page.items.map(\.entry.name)
            cursor = page.next.flatMap(RecordingStore.Cursor.init(text:))
            #expect((page.next == nil) == (seen.count == 25))
            try store.delete(seen[seen.count - 1], isTrial: false)
        } while cursor != nil && seen.count < 100
        #expect(seen == all)
        #expect(names(store).count == 22)
        var looks = 0
        let cut = store.page(after: nil, isNewestFirst: false, limit: 10) {
            looks += 1
            return looks > 3
        }
        #expect(cut.items.count == 3, "nobody waits for the rest")
        for text in ["", "1", "-", "x-y", "-1-a", "99999999999999999999-a"] {
            #expect(RecordingStore.Cursor(text: text) == nil, "\(text)")
        }
    }

    @Test("A part with long notes ends early, and the next one continues from there")
    func longNotes() throws {
        let store = try store()
        for number in 0..<10 {
            try record(store, settings(keeping: 1 << 30), bytes: 10, at: Int64(number) * 1_000_000)
            var note = RecordingNote(camera: "door", number: Int64(number + 1), start: 0, cause: "api", asked: 0)
            // Two pictures every two seconds.
            var gaps = GapDetector()
            for picture in 0..<1400 {
                let time = Duration.seconds(picture / 2 * 2) + .milliseconds(picture % 2 * 100)
                if let gap = gaps.add(MonotonicTime(nanoseconds: 0) + time) { note.add(gap) }
            }
            try store.folder.write(note, of: try #require(names(store, newestFirst: true).first))
        }
        let all = names(store)
        let size = try #require(files[all[0] + ".json"])
        #expect(size > 60_000)
        var seen: [String] = []
        var cursor: RecordingStore.Cursor?
        repeat {
            let page = store.page(after: cursor, isNewestFirst: false, limit: 100, isCancelled: { false })
            #expect(page.items.count <= 262_144 / size + 1)
            seen += page.items.map(\.entry.name)
            cursor = page.next.flatMap(RecordingStore.Cursor.init(text:))
        } while cursor != nil
        #expect(Array(seen.prefix(all.count)) == all && Set(seen).count == 10 && seen.count == 10)
        for text in ["", "{", "{\"number\":", "{\"number\": x", "{\"camera\": 1", "[\"number\": 1", "\u{FF}"] {
            #expect(RecordingNote.number(atStartOf: Array(text.utf8)) == nil, "\(text)")
        }
        #expect(RecordingNote.number(atStartOf: Array("{ \"number\" :12, ".utf8)) == 12)
    }

    @Test("Recordings that people delete or add, and those of versions without numbers, are in the list")
    func foreign() throws {
        let store = try store()
        for number in 0..<4 {
            try record(store, settings(keeping: 1 << 30), bytes: 10, at: Self.today + Int64(number) * Self.day)
        }
        let path = folder.path("recordings/door")
        let made = names(store)
        // Between the second and the third by its name, without a note.
        let added = "20260102T120000.000Z.mp4"
        try FileManager.default.removeItem(atPath: "\(path)/\(made[0])")
        try Data(count: 5).write(to: URL(fileURLWithPath: "\(path)/\(added)"))
        for other in ["a.mp4", "20260102T120000.000Z.mp4.part", "note.json"] {
            try Data(count: 5).write(to: URL(fileURLWithPath: "\(path)/\(other)"))
        }
        store.refresh()
        #expect(names(store) == [made[1], added, made[2], made[3]])
        #expect(names(try self.store()) == names(store))
        #expect(store.contains(added) && !store.contains("../door/\(added)") && !store.contains("a.mp4"))
        // The note of the file that a person deleted is removed first; other files are never touched.
        #expect(store.retain(1) == false)
        #expect(try Set(files.keys) == [made[3], made[3] + ".json", "a.mp4", added + ".part", "note.json"])
    }
}
