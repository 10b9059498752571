import CV4LConvert
import InletCore
import InletV4L2

// Unsafe: owns libv4l's converter of pixel formats.
/// Owns libv4l's converter, and the copy of a picture that the converter may overwrite.
///
/// Confined to the capture thread.
@safe final class VendorConverter {
    private let code: FourCC
    private let format: VendorFormat
    private let size: ImageSize
    private let handle: OpaquePointer
    private let source: PictureBlock

    /// - Parameter size: a size for which ``VendorFormat/fits(_:)`` returns true.
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    init(_ code: FourCC, _ format: VendorFormat, size: ImageSize) throws(InletError) {
        guard let handle = unsafe inlet_v4lconvert_create() else {
            throw InletError(.resourceExhausted, "Not enough memory for libv4l's converter.")
        }
        self.code = code
        self.format = format
        self.size = size
        unsafe self.handle = handle
        source = PictureBlock(byteCount: format.byteCount(size))
    }

    deinit { unsafe v4lconvert_destroy(handle) }

    /// Converts a camera's picture into the process's memory, which has the size of the format's layout.
    ///
    /// - Returns: whether a picture was written.
    @unsafe func convert(_ bytes: UnsafeRawBufferPointer, to block: PictureBlock) -> Bool {
        let layout = format.layout(size: size)
        guard bytes.count >= source.byteCount, block.byteCount >= layout.byteCount else { return false }
        unsafe source.memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<source.byteCount]))
        let target: FourCC = format.output == .rgb ? "RGB3" : "YU12"
        let written = unsafe inlet_v4lconvert_convert(
            handle, code.rawValue, UInt32(size.width), UInt32(size.height), target.rawValue,
            source.memory.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(source.byteCount),
            block.memory.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(layout.byteCount))
        return written == layout.byteCount
    }
}
