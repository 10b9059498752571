import CInletPlugin
import CInletPluginEntry
import InletCore
import Synchronization

/// The plug-in as a whole: its sources and sinks, and the host that has loaded it.
final class PluginLibrary: Sendable {
    /// The process's only instance: a library has one entry.
    static let shared = PluginLibrary()

    private struct State {
        /// The number of calls of `init` without a `deinit` yet.
        var users = 0
        var wasAsked = false
        var log: HostLog?
        // The URI comes from Inlet, which has read secrets and checked paths by its own rules.
        var registry = PluginRegistry(
            localAccess: LocalAccess { (place) throws(InletError) in
                throw InletError(.invalidConfiguration, "\(place) is for Inlet to read, not for its plug-in.")
            })
    }

    private let state = Mutex(State())

    private init() {}

    /// Adds sources.
    func add(_ plugins: [SourcePlugin]) {
        state.withLock { state in
            for plugin in plugins { state.registry.register(plugin) }
        }
    }

    /// Adds sinks.
    func add(_ plugins: [SinkPlugin]) {
        state.withLock { state in
            for plugin in plugins { state.registry.register(plugin) }
        }
    }

    /// Whether there is a source.
    var hasSources: Bool { state.withLock { !$0.registry.sources.isEmpty } }
    /// Whether there is a sink.
    var hasSinks: Bool { state.withLock { !$0.registry.sinks.isEmpty } }

    /// Stores the host. At the first call the author's function adds the sources.
    ///
    /// - Throws: ``InletError/Code/pluginRejected`` if there is neither a source nor a sink.
    func begin(_ log: HostLog?) throws(InletError) {
        let asks = state.withLock { state in
            defer { state.wasAsked = true }
            return !state.wasAsked
        }
        if asks { inlet_plugin_main() }
        let isEmpty = state.withLock { state in
            guard !state.registry.sources.isEmpty || !state.registry.sinks.isEmpty else { return true }
            state.users += 1
            state.log = log
            return false
        }
        guard !isEmpty else {
            throw InletError(
                .pluginRejected,
                "The plug-in has no source and no sink. Its inlet_plugin_main must call PluginKit.export.")
        }
    }

    /// Releases the host after as many calls as ``begin(_:)`` had.
    func end() {
        state.withLock { state in
            state.users = max(0, state.users - 1)
            if state.users == 0 { state.log = nil }
        }
    }

    /// The host's log; nil before the first use and after the last.
    var log: HostLog? { state.withLock { $0.log } }

    /// Returns the configuration that a URI names.
    func configuration(_ uri: String) throws -> any FrameSourceConfiguration {
        let registry = state.withLock { $0.registry }
        return try registry.source(uri)
    }

    /// Returns the configuration of a sink that a URI names.
    func sinkConfiguration(_ uri: String) throws -> any FrameSinkConfiguration {
        let registry = state.withLock { $0.registry }
        return try registry.sink(uri)
    }

    /// Returns the options that a scheme's sources or sinks declare.
    func options(of scheme: String, isSink: Bool) -> [PluginOptionDescription] {
        let registry = state.withLock { $0.registry }
        let all = isSink ? registry.sinks.map(\.info) : registry.sources.map(\.info)
        return all.last { $0.schemes.contains(scheme) }?.options(of: scheme) ?? []
    }
}
