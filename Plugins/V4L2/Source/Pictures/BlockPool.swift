import InletCore
import Synchronization

/// A bounded pool of memory for pictures that could not stay in the driver's buffers.
///
/// Safe from any thread. A block returns when its last owner releases it, and the pool may be released earlier.
final class BlockPool: Sendable {
    private let capacity: Int
    private let state = Mutex(State())

    private struct State {
        var idle: [PictureBlock] = []
        var out = 0
    }

    init(capacity: Int) { self.capacity = capacity }

    /// Returns writable memory of at least the given size, or nil if all blocks are in use.
    func take(byteCount: Int) -> BlockLease? {
        let block = state.withLock { state -> PictureBlock? in
            guard state.out < capacity else { return nil }
            state.out += 1
            // All sizes change with the format, so a block of another size is no longer useful.
            while let block = state.idle.popLast() { if block.byteCount == byteCount { return block } }
            return PictureBlock(byteCount: byteCount)
        }
        return block.map { BlockLease($0, pool: self) }
    }

    fileprivate func giveBack(_ block: PictureBlock) {
        state.withLock { state in
            state.out -= 1
            state.idle.append(block)
        }
    }
}

// Unsafe: owns the memory of pictures that could not stay in the driver's buffers.
/// The memory of a picture, with padding after it that libswscale may read.
///
/// `@unchecked Sendable`: written only by the thread that took it from the pool, before a frame refers to it; after
/// that, frames only read it.
@safe final class PictureBlock: @unchecked Sendable {
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

/// The block that a frame holds. It returns to its pool when the frame's last owner releases it.
final class BlockLease: Sendable {
    let block: PictureBlock
    private let pool: BlockPool

    init(_ block: PictureBlock, pool: BlockPool) {
        self.block = block
        self.pool = pool
    }

    deinit { pool.giveBack(block) }
}
