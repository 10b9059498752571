import CScreenCast
import Glibc
import InletCore

// Unsafe: owns memory that a compositor shares.
/// Keeps the memory of a frame. The compositor may write to it again when the frame's last owner has released it.
/// The memory stays readable after the stream has ended.
@safe final class CastLease: Sendable {
    // Mapped until `deinit` returns it, and not written until then. It can be returned on any thread.
    nonisolated(unsafe) private let memory: OpaquePointer
    nonisolated(unsafe) private let bytes: UnsafeRawBufferPointer

    @unsafe init(_ memory: OpaquePointer, _ bytes: UnsafeRawBufferPointer) {
        unsafe self.memory = memory
        unsafe self.bytes = bytes
    }

    deinit { unsafe inlet_cast_give_back(memory) }

    /// The picture as a plane of a frame, which must hold the lease.
    ///
    /// - Parameter offset: the offset of the top row, in bytes.
    func plane(offset: Int, stride: Int) -> SourcePlane {
        unsafe SourcePlane(bytes, offset: offset, stride: stride)
    }
}
