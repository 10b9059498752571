import InletCore
import InletPluginIPC

// Unsafe: compares fixed-size C arrays.
/// Remembers the last pixel format, so that a stream of one format costs no text for each picture.
struct FormatNames {
    private typealias Key = (UInt64, UInt64, UInt64)
    private var key: Key = (0, 0, 0)
    private var known: PixelFormat?

    /// Returns the pixel format named in a field of 24 bytes.
    mutating func format<Storage: BitwiseCopyable>(_ storage: Storage) throws(PluginLie) -> PixelFormat {
        let key = unsafe withUnsafeBytes(of: storage) { bytes -> Key in
            guard bytes.count == 24 else { return (0, 0, 0) }
            return unsafe (
                bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
            )
        }
        if let known, key == self.key { return known }
        guard let name = try WireValues.name(storage, "pixel format") else {
            throw PluginLie("sent a picture without a pixel format")
        }
        let format = PixelFormat(name)
        (self.key, known) = (key, format)
        return format
    }
}
