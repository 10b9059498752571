import Foundation

/// A currently free TCP port of this machine.
public enum FreePort {
    /// Asks the system for a free port.
    public static func find() async throws -> Int {
        let script = "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
        let text = String(decoding: try await ReferenceCommand.runAside("python3", ["-c", script]), as: UTF8.self)
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }
}
