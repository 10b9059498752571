import CInletPlugin
import InletPluginWire

/// What a user asks for, in memory that a plug-in may read.
@safe final class PluginConfiguration {
    private let text: UnsafeMutableBufferPointer<CChar>
    private let options: UnsafeMutableBufferPointer<inlet_option>
    /// For `create`. Valid while this lives.
    let configuration: UnsafeMutablePointer<inlet_configuration>

    /// Takes what stands behind `inlet_create`; nil if it is not the scheme, the address and as many options as the
    /// message says.
    init?(_ message: inlet_create, _ trailer: [UInt8]) {
        // Two texts, and two for each option.
        let wanted = 2 * (Int(message.option_count) + 1)
        guard trailer.last == 0, trailer.count(where: { $0 == 0 }) == wanted else { return nil }
        unsafe text = .allocate(capacity: trailer.count)
        unsafe options = .allocate(capacity: max(1, Int(message.option_count)))
        unsafe configuration = .allocate(capacity: 1)
        var starts = [0]
        for (index, byte) in trailer.enumerated() {
            unsafe text.initializeElement(at: index, to: CChar(bitPattern: byte))
            if byte == 0 { starts.append(index + 1) }
        }
        func place(_ index: Int) -> UnsafePointer<CChar>? {
            unsafe self.text.baseAddress.map { unsafe UnsafePointer($0 + starts[index]) }
        }
        for index in 0..<Int(message.option_count) {
            unsafe options.initializeElement(
                at: index, to: inlet_option(name: place(2 * index + 2), value: place(2 * index + 3)))
        }
        unsafe configuration.initialize(
            to: inlet_configuration(
                size: UInt32(MemoryLayout<inlet_configuration>.size), option_count: message.option_count,
                scheme: place(0), address: place(1), options: UnsafePointer(options.baseAddress)))
    }

    deinit {
        unsafe configuration.deallocate()
        unsafe options.deallocate()
        // Secrets are among the options.
        for index in unsafe text.indices { unsafe text[index] = 0 }
        unsafe text.deallocate()
    }
}
