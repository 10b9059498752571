public import InletCore
import Synchronization

/// Makes a ``ScriptedSource`` for each connection, one script after another.
public struct ScriptedSourceConfiguration: FrameSourceConfiguration {
    /// The calls that the sources made here have received.
    public let log: ScriptedSource.Log
    private let scripts: [ScriptedSource.Script]

    /// - Parameter scripts: one for each source that is made; the last serves all further ones. If empty, sources end
    ///   at once.
    public init(_ scripts: [ScriptedSource.Script]) {
        self.scripts = scripts
        log = ScriptedSource.Log()
    }

    /// Makes a configuration with one script for every source.
    public init(_ script: ScriptedSource.Script) { self.init([script]) }

    /// The source's URI, which holds no credentials.
    public var redactedURI: String { "scripted:" }

    /// Makes a source that plays the next script from its beginning.
    public func makeSource() -> any FrameSource {
        let index = min(log.count(of: .made), scripts.count - 1)
        return ScriptedSource(index < 0 ? ScriptedSource.Script([]) : scripts[index], log: log)
    }
}

extension ScriptedSource {
    /// The calls that the sources of one configuration received. Safe from any thread.
    public final class Log: Sendable {
        /// A call.
        public enum Call: Sendable, Hashable { case made, open, next, pause, resume, close }

        private let entries = Mutex<[Call]>([])

        init() {}

        /// The calls in order.
        public var calls: [Call] { entries.withLock { $0 } }

        /// Returns how often a call was received.
        public func count(of call: Call) -> Int { entries.withLock { $0.count { $0 == call } } }

        func record(_ call: Call) { entries.withLock { $0.append(call) } }
    }
}
