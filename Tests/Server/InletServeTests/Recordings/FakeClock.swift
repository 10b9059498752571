import Foundation
import ReferenceTools

/// The machine's clock as a daemon sees it, by libfaketime. The clock runs on from the time to which it was set.
/// Monotonic clocks, their timers and the times of files stay real.
struct FakeClock {
    private let file: String
    /// The libraries to preload, in this order.
    private let libraries: [String]

    /// - Parameter folder: the folder for the file with the setting.
    init(in folder: TemporaryFolder) async throws {
        let files = String(decoding: try await ReferenceCommand.runAside("dpkg", ["-L", "libfaketime"]), as: UTF8.self)
        guard let library = files.split(separator: "\n").first(where: { $0.hasSuffix("/libfaketimeMT.so.1") }) else {
            throw ServeProcess.Failure(description: "libfaketime is not installed. Run Scripts/bootstrap --test.")
        }
        let timers = folder.path("real-timers.so")
        let source = PeerProcess.path("real-timers.c")
        _ = try await ReferenceCommand.runAside("clang", ["-shared", "-fPIC", "-o", timers, source, "-ldl"])
        (file, libraries) = (folder.path("clock"), [timers, String(library)])
        try set("+0")
    }

    /// Sets the clock by an offset from the real time, such as `+1d`.
    func set(_ offset: String) throws {
        // The file is replaced atomically: half of it would be another time.
        try Data((offset + "\n").utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    }

    /// Sets the clock to a time in seconds since 1970.
    func set(to time: Double) throws {
        let offset = (time - Date().timeIntervalSince1970).rounded()
        try set((offset < 0 ? "" : "+") + String(format: "%.0f", offset))
    }

    /// The environment of a program that has this clock.
    var environment: [String: String] {
        [
            "LD_PRELOAD": libraries.joined(separator: ":"), "FAKETIME_TIMESTAMP_FILE": file,
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
        ]
    }
}
