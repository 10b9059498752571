import InletCore

// Unsafe: points to the planes of pictures that the caller keeps alive.
/// The planes of a draft in the form for C functions. Valid until the draft is published.
@unsafe struct I420Target {
    let y: UnsafeMutablePointer<UInt8>
    let u: UnsafeMutablePointer<UInt8>
    let v: UnsafeMutablePointer<UInt8>
    let yStride: Int32
    let uStride: Int32
    let vStride: Int32

    init(_ draft: inout I420Draft) {
        unsafe y = draft.mutableBaseAddress(of: .y)
        unsafe u = draft.mutableBaseAddress(of: .u)
        unsafe v = draft.mutableBaseAddress(of: .v)
        // A draft's rows are those of a valid size with at most 63 bytes of padding.
        unsafe yStride = Int32(draft.strides.y)
        unsafe uStride = Int32(draft.strides.u)
        unsafe vStride = Int32(draft.strides.v)
    }
}

/// The planes of a buffer in the form for C functions. Valid while the buffer is referenced.
@unsafe struct I420Source {
    let y: UnsafePointer<UInt8>
    let u: UnsafePointer<UInt8>
    let v: UnsafePointer<UInt8>
    let yStride: Int32
    let uStride: Int32
    let vStride: Int32

    /// - Throws: ``InletError/Code/unsupported`` if a stride is larger than libyuv accepts.
    init(_ buffer: I420Buffer) throws(InletError) {
        guard let yStride = Int32(exactly: buffer.strides.y), let uStride = Int32(exactly: buffer.strides.u),
            let vStride = Int32(exactly: buffer.strides.v)
        else {
            throw InletError(
                .unsupported, "Rows \(buffer.strides) bytes apart are beyond the 31 bits that libyuv takes.")
        }
        unsafe y = buffer.baseAddress(of: .y)
        unsafe u = buffer.baseAddress(of: .u)
        unsafe v = buffer.baseAddress(of: .v)
        unsafe self.yStride = yStride
        unsafe self.uStride = uStride
        unsafe self.vStride = vStride
    }
}

extension InletError {
    /// Returns the error for a libyuv function that refused arguments that had been checked before.
    static func yuv(_ function: String, _ status: Int32, _ what: String) -> InletError {
        InletError(
            .internal, "libyuv failed in \(what). Please report this with the picture's size and format.",
            context: Context(operation: function, nativeCode: status))
    }
}
