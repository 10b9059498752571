import Foundation
import Glibc
import InletOutput
import ReferenceTools
import Testing

/// The notes of a recorder on its files, and the ages that follow from them.
struct RecordingMarkTests {
    static let day: Int64 = 86_400_000_000_000
    /// 2025-06-01.
    static let june: Int64 = 1_748_736_000_000_000_000

    private func time(_ boot: String, _ sinceBoot: Int64, _ sinceEpoch: Int64) -> RecorderTime {
        RecorderTime(boot: boot, sinceBoot: sinceBoot, sinceEpoch: sinceEpoch)
    }

    @Test("Until the machine restarts, setting the clock does not change ages")
    func steps() {
        let begun = time("a", 10, Self.june)
        for clock in [0, Self.june - 400 * Self.day, Self.june + 400 * Self.day] {
            #expect(time("a", 60, clock).age(of: begun) == .nanoseconds(50))
        }
        #expect(time("a", 9, Self.june).age(of: begun) == nil)
    }

    @Test("After a restart, ages follow from the time of day, unless that was not set or is in the future")
    func days() {
        let now = time("b", 5, Self.june)
        #expect(now.age(of: time("a", 900, Self.june - Self.day)) == .nanoseconds(Self.day))
        #expect(now.age(of: time("", 900, Self.june - Self.day)) == .nanoseconds(Self.day))
        #expect(time("", 1, Self.june).age(of: time("", 900, Self.june - Self.day)) == .nanoseconds(Self.day))
        #expect(now.age(of: time("a", 900, Self.june + 1)) == nil)
        #expect(now.age(of: time("a", 900, 60_000_000_000)) == nil)
        #expect(now.age(ofDay: -1) == nil && now.age(ofDay: .min) == nil && now.age(ofDay: .max) == nil)
    }

    @Test("A note is read as it was written, and invalid notes are ignored")
    func text() {
        let marks = [
            RecordingMark(.begun, at: time("0a-1b", 0, .min)), RecordingMark(.ended, at: time("", .max, Self.june)),
            RecordingMark(.ended, at: .now),
        ]
        for mark in marks { #expect(RecordingMark(text: mark.text) == mark) }
        for text in ["", "ended", "ended a 1", "ended a 1 2 3", "done a 1 2", "ended a x 2", "ended a -1 2"] {
            #expect(RecordingMark(text: text) == nil)
        }
    }

    @Test("A note stays with its file when the file's times are changed")
    func attribute() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("file")
        #expect(RecordingMark(path: path) == nil)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        #expect(RecordingMark(path: path) == nil)
        let mark = RecordingMark(.ended, at: .now)
        mark.write(to: descriptor)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
        #expect(RecordingMark(path: path) == mark)
        #expect(!mark.time.boot.isEmpty)
    }
}
