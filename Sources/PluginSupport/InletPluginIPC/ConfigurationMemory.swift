package import CInletPlugin

// Unsafe: owns the memory of the options that a plug-in reads.
/// A user's configuration, in memory that a plug-in may read.
@safe package final class ConfigurationMemory {
    private let text: UnsafeMutableBufferPointer<CChar>
    private let options: UnsafeMutableBufferPointer<inlet_option>
    /// For `create`. Valid while this lives.
    package let configuration: UnsafeMutablePointer<inlet_configuration>

    /// Copies texts.
    ///
    /// - Parameters:
    ///   - texts: the scheme, the address, and the name and value of each option, each followed by a zero byte.
    ///   - optionCount: the number of options.
    /// - Returns: nil if there are more or fewer texts.
    package init?(_ texts: [UInt8], optionCount: UInt32) {
        // Two texts, and two for each option.
        let wanted = 2 * (Int(optionCount) + 1)
        guard texts.last == 0, texts.count(where: { $0 == 0 }) == wanted else { return nil }
        unsafe text = .allocate(capacity: texts.count)
        unsafe options = .allocate(capacity: max(1, Int(optionCount)))
        unsafe configuration = .allocate(capacity: 1)
        var starts = [0]
        for (index, byte) in texts.enumerated() {
            unsafe text.initializeElement(at: index, to: CChar(bitPattern: byte))
            if byte == 0 { starts.append(index + 1) }
        }
        func place(_ index: Int) -> UnsafePointer<CChar>? {
            unsafe self.text.baseAddress.map { unsafe UnsafePointer($0 + starts[index]) }
        }
        for index in 0..<Int(optionCount) {
            unsafe options.initializeElement(
                at: index, to: inlet_option(name: place(2 * index + 2), value: place(2 * index + 3)))
        }
        unsafe configuration.initialize(
            to: inlet_configuration(
                size: UInt32(MemoryLayout<inlet_configuration>.size), option_count: optionCount,
                scheme: place(0), address: place(1), options: UnsafePointer(options.baseAddress)))
    }

    /// Returns the bytes of texts, each followed by a zero byte.
    package static func texts(
        scheme: String, address: String, options: [(name: String, value: String)]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in [scheme, address] + options.flatMap({ [$0.name, $0.value] }) {
            bytes += word.utf8
            bytes.append(0)
        }
        return bytes
    }

    deinit {
        unsafe configuration.deallocate()
        unsafe options.deallocate()
        // Secrets are among the options.
        for index in unsafe text.indices { unsafe text[index] = 0 }
        unsafe text.deallocate()
    }
}
