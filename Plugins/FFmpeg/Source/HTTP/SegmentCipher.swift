import CFFmpeg
import InletCore

// Unsafe: owns libavutil's AES state.
/// Decrypts HLS segments that are encrypted as a whole: AES-128 in CBC mode with PKCS #7 padding (RFC 8216, 4.3.2.4).
///
/// Confined to the thread of its ``HTTPInput``.
@safe final class SegmentCipher {
    private let state: OpaquePointer
    private var vector: [UInt8]
    /// The last block, which may be padding and is held until more data arrives.
    private var held: [UInt8] = []

    private static let blockSize = 16

    /// - Parameters:
    ///   - key: 32 hexadecimal digits, as libavformat passes them.
    ///   - vector: in the same form.
    /// - Returns: nil for anything else.
    init?(key: String, vector: String) {
        guard let key = Self.bytes(key), let vector = Self.bytes(vector), let state = unsafe av_aes_alloc() else {
            return nil
        }
        unsafe self.state = state
        self.vector = vector
        _ = unsafe av_aes_init(state, key, 128, 1)
    }

    deinit { unsafe av_free(UnsafeMutableRawPointer(state)) }

    private static func bytes(_ digits: String) -> [UInt8]? {
        let values = digits.utf8.compactMap(\.hexadecimalValue)
        guard values.count == 2 * blockSize, digits.utf8.count == values.count else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    /// Decrypts the received data, except for its last block.
    ///
    /// - Returns: no bytes if there is only that block.
    func decrypt(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        held += bytes
        let count = (held.count - 1) / Self.blockSize * Self.blockSize
        guard count > 0 else { return [] }
        defer { held.removeFirst(count) }
        return decrypted(count)
    }

    /// Returns the last block, without its padding.
    ///
    /// - Returns: nil if the block is incomplete or padded differently.
    func finish() -> [UInt8]? {
        guard held.count == Self.blockSize else { return held.isEmpty ? [] : nil }
        let block = decrypted(Self.blockSize)
        held = []
        guard let padding = block.last, (1...UInt8(Self.blockSize)).contains(padding) else { return nil }
        return Array(block.dropLast(Int(padding)))
    }

    private func decrypted(_ count: Int) -> [UInt8] {
        var plain = [UInt8](repeating: 0, count: count)
        unsafe av_aes_crypt(state, &plain, held, Int32(clamping: count / Self.blockSize), &vector, 1)
        return plain
    }
}
