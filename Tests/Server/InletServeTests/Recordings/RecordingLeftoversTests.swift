import Foundation
import InletCore
import Logging
import ReferenceTools
import Testing

@testable import InletServe

/// Files that killed processes leave in a folder of recordings, read by ffprobe.
@Suite(.blocking) struct RecordingLeftoversTests {
    private let folder: TemporaryFolder
    private let lanes = FileLanes()

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path("recordings/door") }

    private func store() throws -> RecordingStore {
        lanes.store(
            of: try RecordingFolder(folder.path("recordings"), camera: "door"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Ten pictures of 160x120, two in each fragment, as in a recording that is being written.
    private func movie() throws -> Data {
        let file = folder.path("movie.mp4")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=10", "-frames:v", "10", "-c:v", "libx264", "-g", "2",
            "-bf", "0", "-movflags", "+frag_keyframe+empty_moov+default_base_moof", file,
        ])
        return try Data(contentsOf: URL(fileURLWithPath: file))
    }

    /// Returns the number of bytes of all pictures in a file, as ffprobe reads them.
    private func pictureBytes(_ path: String) throws -> Int {
        let text = try? ReferenceCommand.run(
            "ffprobe", ["-v", "quiet", "-show_entries", "packet=size", "-of", "csv=p=0", path])
        return String(decoding: text ?? Data(), as: UTF8.self).split(whereSeparator: \.isNewline)
            .reduce(0) { $0 + (Int($1.prefix { $0.isNumber }) ?? 0) }
    }

    private func write(_ data: Data, _ name: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try data.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }

    private func write(_ data: Data?, number: Int, hasEnded: Bool = false) throws -> String {
        let name = "20260101T\(120_000 + number).000Z.mp4"
        try write(data ?? Data(), name)
        var note = RecordingNote(camera: "door", number: Int64(number + 1), start: 0, cause: "api", asked: 0)
        note.length = hasEnded ? .seconds(1) : nil
        try store().folder.write(note, of: name)
        if data == nil { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
        return name
    }

    private var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

    private func names(_ store: RecordingStore) -> [String] {
        store.page(after: nil, isNewestFirst: false, limit: 1000, isCancelled: { false }).items.map(\.entry.name)
    }

    @Test("A recording that was cut off is listed and counted if ffprobe finds a part of a picture, else deleted")
    func cuts() throws {
        let movie = try movie()
        let first = try #require(movie.range(of: Data("mdat".utf8))).upperBound
        let sizes =
            Array(stride(from: 0, to: first, by: 41)) + [first, first + 1, first + 100, movie.count - 1, movie.count]
        var kept: [String] = []
        for (number, size) in sizes.enumerated() {
            let name = try write(movie.prefix(size), number: number)
            let bytes = try pictureBytes("\(path)/\(name)")
            #expect((bytes > 0) == (size > first), "\(bytes) bytes of pictures in \(size) bytes")
            if bytes > 0 { kept.append(name) }
        }
        let store = try store()
        #expect(names(store) == kept && kept.count == 4)
        #expect(try files == kept.flatMap { [$0, $0 + ".json"] })
        // All of them are deleted by keep-size, except the last.
        #expect(store.retain(movie.count * 5))
        #expect(names(store) == kept)
        store.retain(movie.count)
        #expect(names(store) == kept.suffix(1))
    }

    @Test("Only what a killed process leaves is deleted: files with an end in their note, or of people, stay")
    func others() throws {
        let movie = try movie()
        let ended = try write(Data(), number: 1, hasEnded: true)
        _ = try write(nil, number: 2)
        let moved = try write(nil, number: 3, hasEnded: true)
        let strange = try write(Data("not a movie".utf8), number: 4)
        let long = try write(Data(count: 100_000), number: 5)
        let added = "20260102T120000.000Z.mp4"
        try write(movie.prefix(100), added)
        try write(Data(), "20260103T120000.000Z.mp4")
        try write(Data(), "other.mp4")
        try write(Data("{".utf8), "20260104T120000.000Z.mp4.json")
        let expected = [
            ended, ended + ".json", moved + ".json", strange, strange + ".json", long, long + ".json", added,
            "20260104T120000.000Z.mp4.json", "other.mp4",
        ]
        #expect(names(try store()) == [ended, strange, long, added])
        #expect(try files == expected.sorted())
    }

    @Test("Incomplete notes of killed processes are deleted, but not those of running ones and other files")
    func notes() throws {
        let name = try write(movie(), number: 1, hasEnded: true)
        let ended = Process()
        ended.executableURL = URL(fileURLWithPath: "/bin/true")
        try ended.runUnblocked()
        ended.waitUntilExit()
        let running = Process()
        (running.executableURL, running.arguments) = (URL(fileURLWithPath: "/bin/sleep"), ["60"])
        try running.runUnblocked()
        defer { running.terminate() }
        for process in [ended.processIdentifier, getpid()] {
            try write(Data("{".utf8), "\(name).json.\(process)-7.part")
        }
        let kept = [
            "\(name).json.\(running.processIdentifier)-7.part", "\(name).json.\(ended.processIdentifier)-x.part",
            "\(name).part", "other.json.\(ended.processIdentifier)-7.part",
        ]
        for other in kept { try write(Data(), other) }
        #expect(names(try store()) == [name])
        #expect(try files == ([name, name + ".json"] + kept).sorted())
    }

    @Test("A recording that has begun is not taken for a leftover, even if the camera is made again meanwhile")
    func begun() throws {
        var first: RecordingStore? = try store()
        let entry = try #require(try first?.begin(at: 1_767_225_600_000_000_000))
        try write(Data(), entry.name)
        let note = RecordingNote(camera: "door", number: entry.number, start: 0, cause: "api", asked: 0)
        try first?.folder.write(note, of: entry.name)
        #expect(names(try store()) == [entry.name])
        first = nil
        #expect(names(try store()).isEmpty)
    }
}
