// The names match inlet_plugin_kit.h.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CInletPlugin
import CInletPluginEntry
import InletCore
import InletPluginIPC

// The functions in the entry's table of a sink. Their tags and guarantees are those of inlet_plugin.h.

@c @implementation
func inlet_kit_has_sinks() -> Int32 { PluginLibrary.shared.hasSinks ? 1 : 0 }

// Unsafe: implements the C functions of a sink that the host calls.
@c @implementation
func inlet_kit_sink_create(
    _ configuration: UnsafePointer<inlet_configuration>?, _ host: UnsafePointer<inlet_sink_host>?,
    _ sink: UnsafeMutablePointer<OpaquePointer?>?, _ wants: UnsafeMutablePointer<inlet_sink_wants>?,
    _ error: UnsafeMutablePointer<inlet_error>?
) -> inlet_result {
    unsafe EntryResult.of(error) { () throws(InletError) in
        guard let configuration = unsafe SizedStruct.read(configuration, like: inlet_configuration()),
            let host = unsafe SizedStruct.read(host, like: inlet_sink_host()), let sink = unsafe sink,
            let wants = unsafe wants
        else { throw InletError(.internal, "create lacks an argument.") }
        let uri = try unsafe SourceAddress(configuration, isSink: true).uri
        do {
            let made = try PluginLibrary.shared.sinkConfiguration(uri)
            let instance = try unsafe SinkInstance(made, host: host, wants: &wants.pointee)
            unsafe sink.pointee = OpaquePointer(Unmanaged.passRetained(instance).toOpaque())
        } catch {
            throw InletError(wrapping: error, operation: "The options of the sink")
        }
        return INLET_OK
    }
}

@c @implementation
func inlet_kit_sink_start(
    _ sink: OpaquePointer?, _ deadline: Int64, _ stream: UnsafePointer<inlet_stream>?,
    _ error: UnsafeMutablePointer<inlet_error>?
) -> inlet_result {
    unsafe call(sink, error, "start") { instance in
        guard let stream = unsafe SizedStruct.read(stream, like: inlet_stream()) else {
            throw InletError(.internal, "start lacks a stream.")
        }
        try unsafe instance.start(stream)
        return INLET_OK
    }
}

@c @implementation
func inlet_kit_sink_consume(
    _ sink: OpaquePointer?, _ deadline: Int64, _ item: UnsafePointer<inlet_item>?,
    _ error: UnsafeMutablePointer<inlet_error>?
) -> inlet_result {
    unsafe call(sink, error, "consume") { instance in
        guard let item = unsafe SizedStruct.read(item, like: inlet_item()) else {
            throw InletError(.internal, "consume lacks an item.")
        }
        return try unsafe instance.consume(item) ? INLET_OK : INLET_END
    }
}

@c @implementation
func inlet_kit_sink_finish(
    _ sink: OpaquePointer?, _ deadline: Int64, _ error: UnsafeMutablePointer<inlet_error>?
) -> inlet_result {
    unsafe call(sink, error, "finish") { instance in
        try instance.finish()
        return INLET_OK
    }
}

@c @implementation
func inlet_kit_sink_destroy(_ sink: OpaquePointer?) {
    guard let sink = unsafe sink else { return }
    unsafe Unmanaged<SinkInstance>.fromOpaque(UnsafeRawPointer(sink)).release()
}

/// Runs a function of an instance, and fills in the host's error if it fails.
private func call(
    _ sink: OpaquePointer?, _ error: UnsafeMutablePointer<inlet_error>?, _ operation: String,
    _ body: (SinkInstance) throws -> Int
) -> inlet_result {
    unsafe EntryResult.of(error) { () throws(InletError) in
        guard let sink = unsafe sink else { throw InletError(.internal, "The call has no instance.") }
        let instance = unsafe Unmanaged<SinkInstance>.fromOpaque(UnsafeRawPointer(sink)).takeUnretainedValue()
        do {
            return try body(instance)
        } catch {
            throw InletError(wrapping: error, operation: "The sink (\(operation))")
        }
    }
}
