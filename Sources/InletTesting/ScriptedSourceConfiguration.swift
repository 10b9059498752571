public import InletCore
import Synchronization

/// Makes a ``ScriptedSource`` for each connection, one script after another.
public struct ScriptedSourceConfiguration: FrameSourceConfiguration {
    /// What the sources made here did so far.
    public let log: ScriptedSource.Log
    private let scripts: [ScriptedSource.Script]

    /// - Parameter scripts: one for each source that is made; the last serves all further ones. Without any, sources
    ///   end at once.
    public init(_ scripts: [ScriptedSource.Script]) {
        self.scripts = scripts
        log = ScriptedSource.Log()
    }

    /// One script for every source.
    public init(_ script: ScriptedSource.Script) { self.init([script]) }

    /// The source by its URI, which holds no credentials.
    public var redactedURI: String { "scripted:" }

    /// A source that plays the script from its beginning.
    public func makeSource() -> any FrameSource {
        let index = min(log.count(of: .made), scripts.count - 1)
        return ScriptedSource(index < 0 ? ScriptedSource.Script([]) : scripts[index], log: log)
    }
}

extension ScriptedSource {
    /// The calls that the sources of one configuration got. Safe from any thread.
    public final class Log: Sendable {
        /// A call.
        public enum Call: Sendable, Hashable { case made, open, next, pause, resume, close }

        private let entries = Mutex<[Call]>([])

        init() {}

        /// The calls in their order.
        public var calls: [Call] { entries.withLock { $0 } }

        /// How often a call came.
        public func count(of call: Call) -> Int { entries.withLock { $0.count { $0 == call } } }

        func record(_ call: Call) { entries.withLock { $0.append(call) } }
    }
}
