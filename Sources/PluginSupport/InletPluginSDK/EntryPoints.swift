// The names match inlet_plugin_kit.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CInletPlugin
import CInletPluginEntry
import InletCore
import InletPluginIPC

// The functions in the entry's tables. Their tags and guarantees are those of inlet_plugin.h.

// Unsafe: implements the C functions of a source that the host calls.
@c @implementation
func inlet_kit_init(
    _ host: UnsafePointer<inlet_host>?, _ error: UnsafeMutablePointer<inlet_error>?
) -> inlet_result {
    unsafe EntryResult.of(error) { () throws(InletError) in
        let host = unsafe SizedStruct.read(host, like: inlet_host())
        try PluginLibrary.shared.begin(unsafe host.flatMap { unsafe HostLog($0) })
        return INLET_OK
    }
}

@c @implementation
func inlet_kit_deinit() { PluginLibrary.shared.end() }

@c @implementation
func inlet_kit_has_sources() -> Int32 { PluginLibrary.shared.hasSources ? 1 : 0 }

@c @implementation
func inlet_kit_create(
    _ configuration: UnsafePointer<inlet_configuration>?, _ host: UnsafePointer<inlet_source_host>?,
    _ source: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<inlet_error>?
) -> inlet_result {
    unsafe EntryResult.of(error) { () throws(InletError) in
        guard let configuration = unsafe SizedStruct.read(configuration, like: inlet_configuration()),
            let host = unsafe SizedStruct.read(host, like: inlet_source_host()), let source = unsafe source
        else { throw InletError(.internal, "create lacks an argument.") }
        let uri = try unsafe SourceAddress(configuration).uri
        do {
            let made = try PluginLibrary.shared.configuration(uri).scopedToCapturer()
            let instance = unsafe SourceInstance(made, host: InstanceHost(host))
            unsafe source.pointee = OpaquePointer(Unmanaged.passRetained(instance).toOpaque())
        } catch {
            throw InletError(wrapping: error, operation: "The options of the source")
        }
        return INLET_OK
    }
}

@c @implementation
func inlet_kit_open(
    _ source: OpaquePointer?, _ deadline: Int64, _ stream: UnsafeMutablePointer<inlet_stream>?,
    _ error: UnsafeMutablePointer<inlet_error>?
) -> inlet_result {
    unsafe EntryResult.of(error) { () throws(InletError) in
        guard let stream = unsafe stream else { throw InletError(.internal, "open lacks a stream.") }
        try unsafe instance(source).open(until: MonotonicTime(nanoseconds: deadline), in: &stream.pointee)
        return INLET_OK
    }
}

@c @implementation
func inlet_kit_next(
    _ source: OpaquePointer?, _ deadline: Int64, _ item: UnsafeMutablePointer<inlet_item>?,
    _ error: UnsafeMutablePointer<inlet_error>?
) -> inlet_result {
    unsafe EntryResult.of(error) { () throws(InletError) in
        guard let item = unsafe item else { throw InletError(.internal, "next lacks an item.") }
        return try unsafe instance(source).next(until: MonotonicTime(nanoseconds: deadline), in: &item.pointee)
    }
}

@c @implementation
func inlet_kit_pause(_ source: OpaquePointer?, _ error: UnsafeMutablePointer<inlet_error>?) -> inlet_result {
    unsafe EntryResult.of(error) { () throws(InletError) in
        try unsafe instance(source).pause()
        return INLET_OK
    }
}

@c @implementation
func inlet_kit_resume(_ source: OpaquePointer?, _ error: UnsafeMutablePointer<inlet_error>?) -> inlet_result {
    unsafe EntryResult.of(error) { () throws(InletError) in
        try unsafe instance(source).resume()
        return INLET_OK
    }
}

@c @implementation
func inlet_kit_close(_ source: OpaquePointer?) {
    guard let source = unsafe source else { return }
    unsafe Unmanaged<SourceInstance>.fromOpaque(UnsafeRawPointer(source)).takeUnretainedValue().close()
}

@c @implementation
func inlet_kit_destroy(_ source: OpaquePointer?) {
    guard let source = unsafe source else { return }
    unsafe Unmanaged<SourceInstance>.fromOpaque(UnsafeRawPointer(source)).takeRetainedValue().destroy()
}

private func instance(_ source: OpaquePointer?) throws(InletError) -> SourceInstance {
    guard let source = unsafe source else { throw InletError(.internal, "The call has no instance.") }
    return unsafe Unmanaged<SourceInstance>.fromOpaque(UnsafeRawPointer(source)).takeUnretainedValue()
}
