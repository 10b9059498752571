import Foundation
import InletCore
import InletOutput
import ReferenceTools
import Testing

struct FileNamePatternTests {
    /// Foundation's text for a time.
    private static func foundation(_ format: String, _ nanoseconds: Int64, _ zone: TimeZone) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = zone
        formatter.dateFormat = format
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(nanoseconds) / 1e9))
    }

    @Test(
        "The fields of a pattern are filled in",
        arguments: [
            ("a.jpg", "a.jpg"), ("{n}.jpg", "000042.jpg"), ("{n:1}-{sequence}", "42-7"), ("%d.png", "42.png"),
            ("x%04dy", "x0042y"), ("%%{{a}", "%{a}"), ("{utc}", "20240229T235959.007Z"), ("%0d", "42"),
            ("a b/c%%/{n:3}", "a b/c%/042"), ("/{n:18}", "/000000000000000042"), ("a}", "a}"),
        ])
    func names(_ pattern: String, _ path: String) throws {
        let name = try FileNamePattern(pattern, hasSequence: true)
        #expect(name.path(number: 42, time: 1_709_251_199_007_999_999, sequence: 7) == path)
        #expect(name.varies == !["a.jpg", "%%{{a}", "a}"].contains(pattern))
        #expect(name.tellsFilesApart == name.varies)
    }

    @Test(
        "Times are calendar times, even before 1970",
        arguments: [0, 86_399, 951_782_400, 951_868_800, 4_107_542_400, -1, 1_735_689_599])
    func times(_ seconds: Int64) throws {
        let time = seconds * 1_000_000_000 + 500_000_000
        #expect(
            try FileNamePattern("{date}_{time}").path(number: 0, time: time)
                == Self.foundation("yyyy-MM-dd_HHmmss", time, .current))
        #expect(
            try FileNamePattern("{utc}").path(number: 0, time: time)
                == Self.foundation("yyyyMMdd'T'HHmmss.SSS'Z'", time, .gmt))
    }

    @Test(
        "An unknown field is refused, and the message lists the known ones",
        arguments: [
            ("{", "{"), ("{n", "{n"), ("{nn}", "{nn}"), ("{n:}", "{n:}"), ("{n:0}", "{n:0}"), ("{n:19}", "{n:19}"),
            ("{n:+5}", "{n:+5}"), ("{time:3}", "{time:3}"), ("{a/b}", "{a"), ("%", "%"), ("%3", "%3"), ("%s", "%s"),
            ("{sequence}", "{sequence}"),
        ])
    func refused(_ pattern: String, _ named: String) {
        let error = #expect(throws: InletError.self) { try FileNamePattern(pattern) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.hasPrefix("'\(named)' ") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("{n}, {n:DIGITS}, {date}, {time}, {utc} or %d") == true)
    }

    @Test(
        "Fields in a folder's name, and patterns without a file name, are refused",
        arguments: [("{n}/a", "folder's"), ("{date}/{n}", "folder's"), ("a/", "add a file name"), ("", "a file name")])
    func folders(_ pattern: String, _ part: String) {
        let error = #expect(throws: InletError.self) { try FileNamePattern(pattern) }
        #expect(error?.message.contains(part) == true)
    }

    @Test("A pattern with %03d in a URI, which is an escape there, is refused with the correct form")
    func escape() throws {
        let uri = try PluginURI("jpeg:a%03d.jpg")
        let error = #expect(throws: InletError.self) { try FileNamePattern(uri.rest) }
        #expect(error?.message.contains("{n:3} for %03d") == true)
        #expect(try FileNamePattern(PluginURI("jpeg:a%2503d.jpg").rest).path(number: 5, time: 0) == "a005.jpg")
    }

    @Test("A date does not distinguish all files")
    func dateAlone() throws {
        let pattern = try FileNamePattern("{date}.mp4")
        #expect(pattern.varies && !pattern.tellsFilesApart)
    }

    @Test(
        "A name that matches the pattern is recognised, with its number",
        arguments: [
            ("a-{n}.mp4", "a-000012.mp4", 12), ("a-{n}.mp4", "a-1234567.mp4", 1_234_567),
            ("a-{n}.mp4", "a-000012-2.mp4", 12), ("a-{n}.mp4", "a-12.mp4", nil), ("a-{n}.mp4", "a-0000012.mp4", nil),
            ("a-{n}.mp4", "a-000012.mkv", nil), ("a-{n}.mp4", "b-000012.mp4", nil), ("a-{n}.mp4", "a-00001x.mp4", nil),
            ("a-{n}.mp4", "a-000012-1.mp4", nil), ("{n:1}{time}", "12235959", 12), ("{n:2}{n:2}", "1212", 12),
            ("{date}-{n}", "2026-11-21-000003", 3), ("{date}-{n}", "2026-1-21-000003", nil),
            ("{utc}.jpg", "20250131T235959.123Z.jpg", 0), ("{utc}.jpg", "20250131T235959.12Z.jpg", nil),
            ("{time}.jpg", "235959-3.jpg", 0), ("{time}.jpg", "2359.jpg", nil), ("%d", "7", 7), ("%d", "07", nil),
            ("{n}-{sequence}.jpg", "000002-77.jpg", 2), ("{sequence}-{n}.jpg", "77-000002.jpg", 2),
            ("{n:18}", "999999999999999999", 999_999_999_999_999_999), ("{n}", "99999999", nil),
            ("{sequence}", "123456789012", 0), ("{n}", "9223372036854775807", nil),
            // Names that only look like those of the pattern belong to other files.
            ("\u{E9}-{n}.mp4", "e\u{301}-000001.mp4", nil), ("\u{E9}-{n}.mp4", "\u{E9}-000001.mp4", 1),
            ("a-{n}.mp4", "a-000001\u{301}.mp4", nil), ("a-{n}.mp4", "a-00000\u{661}.mp4", nil),
            ("a-{n}.mp4", "a-000001-+2.mp4", nil),
        ])
    func numbers(_ pattern: String, _ name: String, _ number: Int?) throws {
        #expect(try FileNamePattern(pattern, hasSequence: true).number(of: name) == number)
    }

    @Test(
        "A name with a valid date and time states when its file began",
        arguments: [
            ("{utc}.mp4", "20240229T235959.007Z.mp4", 1_709_251_199_007),
            ("{utc}.mp4", "20240229T235959.007Z-2.mp4", 1_709_251_199_007), ("{utc}", "20230229T235959.007Z", nil),
            ("{utc}", "20240229T236059.007Z", nil), ("{utc}", "19691231T235959.999Z", nil),
            ("{utc}", "99991231T235959.999Z", nil), ("{utc}", "00000000T000000.000Z", nil),
            ("{date}", "2024-02-29", nil),
            ("{time}", "235959", nil), ("{n}", "000001", nil),
        ] as [(String, String, Int64?)])
    func began(_ pattern: String, _ name: String, _ milliseconds: Int64?) throws {
        #expect(try FileNamePattern(pattern).match(name)?.began == milliseconds.map { $0 * 1_000_000 })
    }

    @Test("The local date and time of a name are read as written, on any day of the year")
    func beganLocally() throws {
        let pattern = try FileNamePattern("a-{n}-{time}-{date}.mp4")
        for day in 0..<366 as Range<Int64> {
            let time = (1_735_689_600 + day * 86_400 + day * 60) * 1_000_000_000
            let match = try #require(pattern.match(pattern.path(number: 3, time: time)))
            // One hour in autumn occurs twice.
            #expect(match.number == 3 && [0, 3_600_000_000_000].contains(abs((match.began ?? 0) - time)))
        }
        #expect(try FileNamePattern("{date}.mp4").match("2026-01-31-12.mp4")?.copy == 12)
    }

    @Test("A combining mark after a slash, a brace or a percent sign does not change its meaning")
    func combiningMarks() throws {
        #expect(try FileNamePattern("a/\u{301}{n:1}").folder == "a/")
        #expect(try FileNamePattern("%d\u{301}").path(number: 5, time: 0) == "5\u{301}")
        #expect(try FileNamePattern("{n:1}\u{301}").path(number: 5, time: 0) == "5\u{301}")
        for mistake in ["{\u{301}n}", "%\u{301}d", "{n:\u{661}}"] {
            let error = #expect(throws: InletError.self) { try FileNamePattern(mistake) }
            #expect(error?.message.contains("is not a known field") == true)
        }
    }

    @Test("Numbers continue from the highest one in the folder, and skip used names")
    func countingOn() throws {
        let folder = try TemporaryFolder()
        let pattern = try FileNamePattern(folder.path("a-{n:3}.jpg"))
        #expect(pattern.highestNumber == 0)
        for name in ["a-007.jpg", "a-002.jpg", "b-100.jpg", "a-1000.png"] {
            try Data().write(to: URL(fileURLWithPath: folder.path(name)))
        }
        #expect(pattern.highestNumber == 7)
        // A dangling link uses its name.
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("a-008.jpg"), withDestinationPath: folder.path("nothing"))
        var number = 7
        #expect(pattern.freePath(number: &number, time: 0) == folder.path("a-009.jpg"))
        #expect(number == 9)
        #expect(try FileNamePattern(folder.path("gone/{n}")).highestNumber == 0)
    }

    @Test("A used name without a number gets one before its extension")
    func copies() throws {
        let folder = try TemporaryFolder()
        var number = 0
        for name in ["a.tar.gz", "a.tar-2.gz", "a.tar-3.gz"] {
            let path = try FileNamePattern(folder.path("a.tar.gz")).freePath(number: &number, time: 0)
            #expect(path == folder.path(name))
            try Data().write(to: URL(fileURLWithPath: path))
        }
        try Data().write(to: URL(fileURLWithPath: folder.path(".hidden")))
        #expect(
            try FileNamePattern(folder.path(".hidden")).freePath(number: &number, time: 0) == folder.path(".hidden-2"))
    }

    @Test("Similar names of other programs' files do not match, because retention would delete the files")
    func othersFiles() throws {
        let numbered = try FileNamePattern("cam-{n}.mp4")
        for name in [
            "cam-20260131-120000.mp4", "cam-20260131.mp4", "cam-000001-02.mp4", "cam-000001-1.mp4",
            "cam-000001-1000.mp4",
        ] {
            #expect(numbered.number(of: name) == nil, "\(name)")
        }
        for (name, number) in [
            ("cam-000001.mp4", 1), ("cam-1000000.mp4", 1_000_000), ("cam-000001-2.mp4", 1), ("cam-000001-999.mp4", 1),
        ] {
            #expect(numbered.number(of: name) == number, "\(name)")
        }
        #expect(try FileNamePattern("{date}.mp4").number(of: "2026-01-31-120000.mp4") == nil)
    }
}
