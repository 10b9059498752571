import Foundation
import ReferenceTools
import Testing

/// Deletions of recordings and the syncs after them, as the system sees them.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 3)) struct RecordingSyncTests {
    private static func names(_ log: SyncLog, in folder: String) -> [String] {
        log.lines.filter { $0.contains(folder) }.map { line in
            let kind = line.prefix { $0 != " " }
            return line.hasSuffix(folder) ? "\(kind) folder" : "\(kind) \(line.split(separator: "/").last ?? "")"
        }
    }

    private static func fill(_ folder: String, _ names: [String], bytes: Int) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in names { try Data(count: bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
    }

    private static let times = (1...5).map { "2026010\($0)T120000.000Z.mp4" }

    @Test("A deleted recording is deleted on the disk before the answer, and keep-size syncs once for all it deletes")
    func recordings() async throws {
        let log = try await SyncLog()
        let folder = try TemporaryFolder()
        let (door, yard) = (folder.path("door"), folder.path("yard"))
        try Self.fill(door, Self.times, bytes: 1000)
        try Self.fill(door, Self.times.map { $0 + ".json" }, bytes: 10)
        try Self.fill(yard, Self.times, bytes: 10_000_000)
        let serve = try await ServeProcess(
            """
            defaults:
              record: {folder: "\(folder.path(""))", keep-size: 30M}
            cameras:
              door: {source: "pattern:ball?size=64x64&fps=10", on-demand: true}
              yard: {source: "pattern:ball?size=64x64&fps=10", on-demand: true}

            """, environment: log.environment)
        let deleted = try await ServeProcess.last {
            Self.names(log, in: yard)
        } until: {
            $0.last == "fsync folder"
        }
        #expect(deleted == ["unlink \(Self.times[0])", "unlink \(Self.times[1])", "fsync folder"])

        #expect(try await serve.ask("DELETE", "/v1/cameras/door/recordings/\(Self.times[2])").status == 204)
        let name = Self.times[2]
        #expect(Self.names(log, in: door) == ["unlink \(name)", "unlink \(name).json", "fsync folder"])
        #expect(try await serve.ask("DELETE", "/v1/cameras/door/recordings/\(name)").status == 404)
        #expect(await serve.end() == 0)
    }

    @Test("A sink that deletes old files syncs their folder, once for each deletion of several")
    func sink() async throws {
        let log = try await SyncLog()
        let folder = try TemporaryFolder()
        let files = folder.path("files")
        try Self.fill(files, (1...4).map { "\($0).mp4" }, bytes: 3_000_000)
        let serve = try await ServeProcess(
            """
            cameras:
              door:
                source: "pattern:ball?size=64x64&fps=10"
                sinks: ["mp4:\(files)/{n:1}.mp4?keep-size=4M"]

            """, environment: log.environment)
        let deleted = try await ServeProcess.last {
            Self.names(log, in: files)
        } until: {
            $0.contains("fsync folder")
        }
        #expect(deleted == (1...3).map { "unlink \($0).mp4" } + ["fsync folder"])
        #expect(await serve.end() == 0)
    }
}
