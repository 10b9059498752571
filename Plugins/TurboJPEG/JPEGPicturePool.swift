import InletCore
import Synchronization

/// The memory of unused pictures, kept for reuse.
///
/// The queues of the pictures' holders bound the number of pictures. Safe from any thread: a picture returns when its
/// last owner releases it, and the pool may be released earlier.
final class JPEGPicturePool: Sendable {
    private let idle = Mutex([JPEGPicture]())

    /// The maximum number of idle pictures. More would be idle only after many were held at once.
    private static let mostIdle = 4

    /// Returns writable memory of the given size.
    func take(byteCount: Int) -> JPEGPictureLease {
        let picture = idle.withLock { idle -> JPEGPicture? in
            // After a change of size, the stream no longer needs the other pictures.
            while let picture = idle.popLast() { if picture.byteCount == byteCount { return picture } }
            return nil
        }
        return JPEGPictureLease(picture ?? JPEGPicture(byteCount: byteCount), pool: self)
    }

    fileprivate func giveBack(_ picture: JPEGPicture) {
        idle.withLock { if $0.count < Self.mostIdle { $0.append(picture) } }
    }
}

// Unsafe: owns the memory of a decoded picture, which one owner writes at a time.
/// The memory of one picture, with padding after it that libraries may read.
///
/// `@unchecked Sendable`: written only by the decoder that took it from the pool, before a frame refers to it; after
/// that, frames only read it.
@safe final class JPEGPicture: @unchecked Sendable {
    let memory: UnsafeMutableRawBufferPointer
    let byteCount: Int

    /// See InletConvert's README: planes with 64 bytes after them need no second pass.
    private static let readAhead = 64

    init(byteCount: Int) {
        self.byteCount = byteCount
        unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount + Self.readAhead, alignment: 64)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { unsafe memory.deallocate() }
}

/// The owner of a frame's pixels. The memory returns to its pool when the frame's last owner releases it.
final class JPEGPictureLease: Sendable {
    let picture: JPEGPicture
    private let pool: JPEGPicturePool

    init(_ picture: JPEGPicture, pool: JPEGPicturePool) {
        self.picture = picture
        self.pool = pool
    }

    deinit { pool.giveBack(picture) }
}
