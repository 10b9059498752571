import Foundation
import ReferenceTools

/// A log of the files that a program syncs, renames and removes.
struct SyncLog {
    private let folder: TemporaryFolder

    /// The environment of the program that writes the log.
    var environment: [String: String] {
        ["LD_PRELOAD": folder.path("sync-log.so"), "SYNC_LOG": folder.path("syncs")]
    }

    /// The lines so far, each with a verb and a path.
    var lines: [Substring] {
        // The first line creates the file.
        let text = try? String(contentsOfFile: folder.path("syncs"), encoding: .utf8)
        return text?.split(separator: "\n") ?? []
    }

    init() async throws {
        folder = try TemporaryFolder()
        let source = PeerProcess.path("sync-log.c")
        _ = try await ReferenceCommand.runAside(
            "clang", ["-shared", "-fPIC", "-o", folder.path("sync-log.so"), source, "-ldl"])
    }
}
