import InletCore
import Synchronization

/// The memory of unused pictures, kept for later ones.
///
/// The queues of the pictures' holders bound their number. Safe from any thread: pictures return when their last owner
/// releases them; the pool may be released before them.
final class JPEGPicturePool: Sendable {
    private let idle = Mutex([JPEGPicture]())

    /// The maximum number of idle pictures; more would be idle only after many were held at once.
    private static let mostIdle = 4

    /// Returns memory of that many bytes to write to.
    func take(byteCount: Int) -> JPEGPictureLease {
        let picture = idle.withLock { idle -> JPEGPicture? in
            // After a change of size, the stream does not need the others any more.
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
/// `@unchecked Sendable`: written by the decoder that took it from the pool, before a frame refers to it, and read by
/// frames after.
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

/// The owner that a frame holds: a picture's memory, which returns to its pool when the frame's last owner releases it.
final class JPEGPictureLease: Sendable {
    let picture: JPEGPicture
    private let pool: JPEGPicturePool

    init(_ picture: JPEGPicture, pool: JPEGPicturePool) {
        self.picture = picture
        self.pool = pool
    }

    deinit { pool.giveBack(picture) }
}
