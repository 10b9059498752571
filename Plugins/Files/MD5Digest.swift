import CAVUtil
import InletCore

// Unsafe: owns libavutil's MD5 state.
/// Owns libavutil's MD5 state.
@safe final class MD5Digest {
    private let state: OpaquePointer

    init() throws(InletError) {
        guard let state = unsafe av_md5_alloc() else {
            throw InletError(.resourceExhausted, "There is no memory for an MD5 sum.")
        }
        unsafe self.state = state
    }

    deinit { unsafe av_free(UnsafeMutableRawPointer(state)) }

    /// Returns the MD5 sum of a picture's planes without their padding, in hexadecimal. No plane is copied.
    func hexadecimal(of picture: I420Buffer) -> String {
        unsafe av_md5_init(state)
        for plane in I420Buffer.Plane.allCases {
            let rows = I420Buffer.rows(of: plane, in: picture.size)
            let stride = picture.strides[plane]
            let base = unsafe picture.baseAddress(of: plane)
            if stride == rows.width {
                unsafe av_md5_update(state, base, rows.width * rows.height)
            } else {
                for row in 0..<rows.height {
                    unsafe av_md5_update(state, base + row * stride, rows.width)
                }
            }
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { sum in
            unsafe av_md5_final(state, sum.baseAddress)
            return unsafe String(unsafeUninitializedCapacity: 32) { text in
                for index in 0..<16 {
                    unsafe text[2 * index] = Self.digit(sum[index] >> 4)
                    unsafe text[2 * index + 1] = Self.digit(sum[index] & 15)
                }
                return 32
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}
