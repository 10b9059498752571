import CInletPlugin
import Glibc

/// What a user asks for, in memory that a plug-in in this process may read.
@safe final class OptionMemory {
    private let words: [UnsafeMutablePointer<CChar>?]
    private let options: UnsafeMutableBufferPointer<inlet_option>
    /// For `create`. Valid while this lives.
    private(set) var configuration: inlet_configuration

    init(scheme: String, address: String, options list: [(name: String, value: String)]) {
        let texts = [scheme, address] + list.flatMap { [$0.name, $0.value] }
        let words = unsafe texts.map { unsafe strdup($0) }
        unsafe self.words = words
        let options = UnsafeMutableBufferPointer<inlet_option>.allocate(capacity: max(1, list.count))
        for index in list.indices {
            unsafe options.initializeElement(
                at: index, to: inlet_option(name: words[2 * index + 2], value: words[2 * index + 3]))
        }
        unsafe self.options = options
        unsafe configuration = inlet_configuration(
            size: UInt32(MemoryLayout<inlet_configuration>.size), option_count: UInt32(list.count),
            scheme: words[0], address: words[1], options: UnsafePointer(options.baseAddress))
    }

    deinit {
        for index in unsafe words.indices {
            guard let word = unsafe words[index] else { continue }
            // Secrets are among the options.
            unsafe memset(word, 0, strlen(word))
            unsafe free(word)
        }
        unsafe options.deallocate()
    }
}
