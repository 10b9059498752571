// Unsafe: reads fixed-size C arrays.
/// Text in the fixed arrays of C structs: UTF-8 up to a zero byte, or to the array's end.
package enum FixedText {
    /// Returns the bytes of text, without a zero byte.
    package static func bytes<Storage: BitwiseCopyable>(_ storage: Storage) -> [UInt8] {
        unsafe withUnsafeBytes(of: storage) { unsafe Array($0.prefix { $0 != 0 }) }
    }

    /// Returns the text; nil if it is not UTF-8.
    package static func text<Storage: BitwiseCopyable>(_ storage: Storage) -> String? {
        String(validating: bytes(storage), as: UTF8.self)
    }

    /// Writes text, cut at a character if it is too long, followed by zeros.
    package static func write<Storage: BitwiseCopyable>(_ text: some StringProtocol, to storage: inout Storage) {
        unsafe withUnsafeMutableBytes(of: &storage) { memory in
            for index in memory.indices { unsafe memory[index] = 0 }
            // The last byte stays zero.
            var end = 0
            for scalar in text.unicodeScalars {
                let units = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
                guard end + units.count < memory.count else { break }
                for unit in units {
                    unsafe memory[end] = unit
                    end += 1
                }
            }
        }
    }
}
