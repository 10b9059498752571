import CInletPlugin
import Glibc
import InletCore
import InletPluginIPC
import InletSystem
import Logging
import Synchronization

// Unsafe: owns a loaded library, whose functions never change.
/// A plug-in's library in this process. It is never unloaded, because threads of it may still run.
///
/// Only one thread at a time may ask an instance for functions; several instances of one library may exist.
///
/// `@unchecked Sendable`: the last reference, on any thread, only calls `deinit` under a lock.
final class LoadedLibrary: @unchecked Sendable {
    private let library: PluginLibrary

    /// Loads a library, which runs its constructors, and initialises it.
    ///
    /// - Throws: ``InletError/Code/pluginRejected`` if it is no plug-in, is built for another version, or refuses.
    ///   ``InletError/Code/unsupported`` if the plug-in is a command, which cannot be loaded.
    init(_ program: PluginProgram) throws(InletError) {
        guard case .library(let path) = program.code else {
            throw InletError(
                .unsupported,
                "The plug-in \(program.name) is a program, not a library that could be loaded. Run it in a separate process."
            )
        }
        try program.makeNewFiles()
        let outcome = Self.initialisation.withLock { _ -> Result<Handover<PluginLibrary>, InletError> in
            do throws(InletError) {
                return .success(Handover(unsafe try PluginLibrary(path: path, host: Self.host)))
            } catch {
                return .failure(error)
            }
        }
        library = try outcome.get().value
    }

    deinit {
        let library = Handover(library)
        Self.initialisation.withLock { _ in library.value.finish() }
    }

    /// Returns the functions of sources; nil if the plug-in has none.
    func source() throws(InletError) -> inlet_source_interface? { try library.source() }

    /// Returns the functions of sinks; nil if the plug-in has none.
    func sink() throws(InletError) -> inlet_sink_interface? { try library.sink() }

    /// `init` and `deinit` of one library are never entered twice at once.
    private static let initialisation = Mutex(())

    /// Writes the log lines of plug-ins, for all sources.
    private static let log = Mutex(PluginLog(Logger(label: "inlet.plugin"), name: "A plug-in"))

    /// The host's functions for every plug-in in this process. Never freed.
    // Written once, before a plug-in can see it, and only read from then on.
    nonisolated(unsafe) private static let host: UnsafePointer<inlet_host> = {
        let host = UnsafeMutablePointer<inlet_host>.allocate(capacity: 1)
        unsafe host.initialize(
            to: inlet_host(
                size: UInt32(MemoryLayout<inlet_host>.size), major: UInt16(INLET_PLUGIN_MAJOR),
                minor: UInt16(INLET_PLUGIN_MINOR), name: UnsafePointer(strdup("inlet")),
                version: UnsafePointer(strdup(InletVersion.current)),
                log: { level, text in
                    let line = unsafe CText.read(text)
                    LoadedLibrary.log.withLock { $0.write(PluginNote.level(level) ?? .info, line) }
                },
                now: { MonotonicTime.now.nanoseconds }, get_extension: { _ in nil }))
        return unsafe UnsafePointer(host)
    }()
}
