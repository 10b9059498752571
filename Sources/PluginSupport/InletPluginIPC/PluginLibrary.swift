package import CInletPlugin
import Glibc
package import InletCore

// Unsafe: loads a library and calls its entry.
/// A plug-in's library, loaded and initialised: its entry is checked, and `init` has succeeded.
///
/// It stays loaded for the life of the process, because threads of the library may still run. One thread at a time.
@safe package final class PluginLibrary {
    private let entry: inlet_plugin
    private let name: String

    /// Loads a library, which runs its constructors, and calls its `init`.
    ///
    /// - Parameters:
    ///   - path: the library's path. The system does not search for it.
    ///   - host: the host functions for the plug-in; they stay valid for the life of the process.
    /// - Throws: ``InletError/Code/pluginRejected`` if the library cannot be loaded, has no entry, was built for
    ///   another version of the interface, or refuses to start.
    package init(path: String, host: UnsafePointer<inlet_host>) throws(InletError) {
        name = String(path.split(atByte: "/").last ?? "")
        // A path without a slash would be searched for in the system's folders.
        let path = path.contains(byte: "/") ? path : "./" + path
        entry = try Self.entry(of: path, named: name)
        var error = inlet_error()
        error.size = UInt32(MemoryLayout<inlet_error>.size)
        guard let start = unsafe entry.`init` else { throw Self.missing("init", of: "inlet_plugin_entry", in: name) }
        let result = unsafe start(host, &error)
        guard result == 0 else {
            let reason = FixedText.text(error.message) ?? ""
            throw Self.rejected(
                "\(name) refuses to start: "
                    + (reason.isEmpty ? "its init returned \(result) and gave no reason." : reason),
                operation: "init", nativeCode: error.native_code)
        }
    }

    /// Calls the plug-in's `deinit`.
    package func finish() { entry.`deinit`?() }

    /// The ids of the plug-in's interfaces, of those that Inlet knows.
    package var interfaces: [String] {
        [INLET_SOURCE_ID, INLET_SINK_ID].filter { unsafe address(of: $0) != nil }
    }

    /// Returns the interface of sources; nil if the plug-in has no sources.
    ///
    /// - Throws: ``InletError/Code/pluginRejected`` if a function is missing in it.
    package func source() throws(InletError) -> inlet_source_interface? {
        var interface = inlet_source_interface()
        guard try read(INLET_SOURCE_ID, into: &interface) else { return nil }
        let wanted = unsafe [
            ("create", interface.create == nil), ("open", interface.open == nil), ("next", interface.next == nil),
            ("close", interface.close == nil), ("destroy", interface.destroy == nil),
        ]
        if let absent = wanted.first(where: { $0.1 }) { throw Self.missing(absent.0, of: INLET_SOURCE_ID, in: name) }
        return interface
    }

    /// Returns the interface of sinks; nil if the plug-in has no sinks.
    ///
    /// - Throws: ``InletError/Code/pluginRejected`` if a function is missing in it.
    package func sink() throws(InletError) -> inlet_sink_interface? {
        var interface = inlet_sink_interface()
        guard try read(INLET_SINK_ID, into: &interface) else { return nil }
        let wanted = unsafe [
            ("create", interface.create == nil), ("start", interface.start == nil),
            ("consume", interface.consume == nil), ("finish", interface.finish == nil),
            ("destroy", interface.destroy == nil),
        ]
        if let absent = wanted.first(where: { $0.1 }) { throw Self.missing(absent.0, of: INLET_SINK_ID, in: name) }
        return interface
    }

    private func address(of id: String) -> UnsafeRawPointer? { unsafe entry.get_interface?(id) }

    private func read<Interface: BitwiseCopyable>(
        _ id: String, into interface: inout Interface
    ) throws(InletError) -> Bool {
        guard let address = unsafe address(of: id) else { return false }
        guard unsafe SizedStruct.read(address, into: &interface) != nil else {
            throw Self.rejected("\(name): the struct of \(id) states no size. Set its size with sizeof.")
        }
        return true
    }

    private static func entry(of path: String, named name: String) throws(InletError) -> inlet_plugin {
        guard let library = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason is given"
            throw rejected(
                "The library cannot be loaded: \(reason). Check that it is built for this machine, and that the "
                    + "libraries it needs are installed or in the same folder.",
                operation: "dlopen")
        }
        guard let symbol = unsafe dlsym(library, "inlet_plugin_entry") else {
            throw rejected(
                "\(name) has no symbol inlet_plugin_entry, so it is not an Inlet plug-in. "
                    + "Export it as inlet_plugin.h declares it.", operation: "dlsym")
        }
        var entry = inlet_plugin()
        guard let size = unsafe SizedStruct.read(symbol, into: &entry) else {
            throw rejected("\(name): inlet_plugin_entry states no size. Set its size to sizeof(inlet_plugin).")
        }
        try check(entry, size: size, name)
        return entry
    }

    // INLET_PLUGIN_MAGIC, which Swift does not read from the header.
    private static let magic: UInt32 = 0x544c_4e49

    private static func check(_ entry: inlet_plugin, size: Int, _ name: String) throws(InletError) {
        guard entry.magic == magic else {
            throw rejected(
                "\(name): inlet_plugin_entry does not begin with INLET_PLUGIN_MAGIC, so it is not an Inlet plug-in, or "
                    + "built for a machine of another byte order.")
        }
        let major = Int32(entry.major)
        guard major <= INLET_PLUGIN_MAJOR else {
            throw rejected(
                "\(name) is too new: it was built for version \(major) of the interface, and this Inlet has "
                    + "\(INLET_PLUGIN_MAJOR).\(INLET_PLUGIN_MINOR). Update Inlet, or install an older version of it.")
        }
        guard major == INLET_PLUGIN_MAJOR else {
            throw rejected(
                "\(name) is too old: it was built for version \(major) of the interface, and this Inlet has "
                    + "\(INLET_PLUGIN_MAJOR).\(INLET_PLUGIN_MINOR). Install a newer version of it.")
        }
        guard Int32(entry.minor_needed) <= INLET_PLUGIN_MINOR else {
            throw rejected(
                "\(name) is too new: it needs version \(major).\(entry.minor_needed) of the interface, and this Inlet "
                    + "has \(INLET_PLUGIN_MAJOR).\(INLET_PLUGIN_MINOR). Update Inlet, or install an older version of "
                    + "it.")
        }
        // The size in version 1.0; later versions are longer.
        let least = 40
        guard size >= least else {
            throw rejected(
                "\(name): inlet_plugin_entry states a size of \(size) bytes, and version 1.0 has \(least). "
                    + "Set its size to sizeof(inlet_plugin).")
        }
        let wanted = unsafe [
            ("init", entry.`init` == nil), ("deinit", entry.`deinit` == nil),
            ("get_interface", entry.get_interface == nil),
        ]
        if let absent = wanted.first(where: { $0.1 }) { throw missing(absent.0, of: "inlet_plugin_entry", in: name) }
    }

    private static func missing(_ function: String, of place: String, in name: String) -> InletError {
        rejected("\(name): the function \(function) of \(place) is null. Inlet needs it: set it.")
    }

    private static func rejected(
        _ message: String, operation: String? = nil, nativeCode: Int32? = nil
    ) -> InletError {
        InletError(.pluginRejected, message, context: .init(operation: operation, nativeCode: nativeCode))
    }
}
