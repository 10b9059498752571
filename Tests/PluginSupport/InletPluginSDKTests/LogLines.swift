import Synchronization

/// The log lines of the plug-in in these tests.
final class LogLines: Sendable {
    static let shared = LogLines()
    private let lines = Mutex([String]())

    func append(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}
