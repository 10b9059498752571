#if os(Linux)
    import CScreenCast
    import Glibc
    import InletCore

    // Unsafe: owns memory that a compositor shares.
    /// What a frame holds: memory of a compositor's, which may write to it again when the frame's last owner releases
    /// it. It stays readable after the stream has ended.
    @safe final class CastLease: Sendable {
        // Mapped until `deinit` gives it back, and not written meanwhile. Giving back is safe on any thread.
        nonisolated(unsafe) private let memory: OpaquePointer
        nonisolated(unsafe) private let bytes: UnsafeRawBufferPointer

        @unsafe init(_ memory: OpaquePointer, _ bytes: UnsafeRawBufferPointer) {
            unsafe self.memory = memory
            unsafe self.bytes = bytes
        }

        deinit { unsafe inlet_cast_give_back(memory) }

        /// The picture as a frame's plane, of which the frame must hold the lease.
        ///
        /// - Parameter offset: where the top row begins, in bytes.
        func plane(offset: Int, stride: Int) -> SourcePlane {
            unsafe SourcePlane(bytes, offset: offset, stride: stride)
        }
    }
#endif
