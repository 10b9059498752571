import Synchronization

/// What the plug-in of these tests has logged.
final class LogLines: Sendable {
    static let shared = LogLines()
    private let lines = Mutex([String]())

    func append(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}
