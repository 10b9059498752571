import CInletPlugin
import InletCore
import InletPluginIPC
import InletSystem

/// A source, called as by a host through the tables of `inlet_plugin_entry`.
@safe final class TableSource {
    /// The error of a failed function.
    struct Failure: Error {
        let result: inlet_result
        let message: String
        let nativeCode: Int32
        let retryAfter: Int64
    }

    let host: FakeHost
    private let table: inlet_source_interface
    private var instance: OpaquePointer?

    /// Calls `init` once per process, and `create`.
    init(_ scheme: String, _ address: String, _ options: [(String, String)] = [], host: FakeHost) throws {
        try Self.loaded.get()
        self.host = host
        let table = unsafe inlet_plugin_entry.get_interface(INLET_SOURCE_ID)?
            .assumingMemoryBound(to: inlet_source_interface.self).pointee
        guard let table = table else { throw InletError(.internal, "no interface") }
        self.table = table
        // The names and values live as long as the call.
        let texts = unsafe options.map { (unsafe copy($0.0), unsafe copy($0.1)) }
        defer {
            for index in unsafe texts.indices {
                unsafe texts[index].0.deallocate()
                unsafe texts[index].1.deallocate()
            }
        }
        let list = unsafe texts.map { unsafe inlet_option(name: $0.0.baseAddress, value: $0.1.baseAddress) }
        var error = inlet_error()
        var functions = unsafe host.functions
        var made: OpaquePointer?
        let result = unsafe list.withUnsafeBufferPointer { list in
            unsafe scheme.withCString { scheme in
                unsafe address.withCString { address in
                    var configuration = unsafe inlet_configuration(
                        size: UInt32(MemoryLayout<inlet_configuration>.size), option_count: UInt32(list.count),
                        scheme: scheme, address: address, options: list.baseAddress)
                    return unsafe table.create(&configuration, &functions, &made, &error)
                }
            }
        }
        try Self.check(result, error)
        unsafe instance = made
    }

    static let loaded = Result<Void, any Error> {
        var host = unsafe inlet_host()
        unsafe host.size = UInt32(MemoryLayout<inlet_host>.size)
        unsafe host.log = { level, text in
            guard let text = unsafe text.flatMap({ unsafe String(validatingCString: $0) }) else { return }
            LogLines.shared.append("\(level) \(text)")
        }
        var error = inlet_error()
        try check(unsafe inlet_plugin_entry.`init`(&host, &error), error)
    }

    static func check(_ result: inlet_result, _ error: inlet_error) throws {
        guard result < 0 else { return }
        throw Failure(
            result: result, message: FixedText.text(error.message) ?? "not UTF-8", nativeCode: error.native_code,
            retryAfter: error.retry_after)
    }

    /// Opens the source within a time.
    @discardableResult
    func open(within time: Duration = .seconds(20)) throws -> inlet_stream {
        var stream = unsafe inlet_stream()
        unsafe stream.size = UInt32(MemoryLayout<inlet_stream>.size)
        var error = inlet_error()
        let result = unsafe table.open(instance, (MonotonicTime.now + time).nanoseconds, &stream, &error)
        try Self.check(result, error)
        return unsafe stream
    }

    /// Calls `next`, and returns the result if that is not an error.
    func next(within time: Duration = .seconds(20)) throws -> (result: Int, item: TableItem) {
        var item = unsafe inlet_item()
        unsafe item.size = UInt32(MemoryLayout<inlet_item>.size)
        unsafe (item.pts, item.capture_time, item.wall_clock, item.packet.dts) = (.min, .min, .min, .min)
        var error = inlet_error()
        let result = unsafe table.next(instance, (MonotonicTime.now + time).nanoseconds, &item, &error)
        try Self.check(result, error)
        return unsafe (Int(result), TableItem(item))
    }

    func pause() throws {
        var error = inlet_error()
        try Self.check(unsafe table.pause(instance, &error), error)
    }

    func resume() throws {
        var error = inlet_error()
        try Self.check(unsafe table.resume(instance, &error), error)
    }

    func close() { unsafe table.close(instance) }

    deinit { if unsafe instance != nil { unsafe table.destroy(instance) } }
}

/// Returns a copy of a text that ends in a zero byte.
private func copy(_ text: String) -> UnsafeMutableBufferPointer<CChar> {
    let bytes = text.utf8CString
    let memory = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
    _ = unsafe memory.initialize(from: bytes)
    return unsafe memory
}
