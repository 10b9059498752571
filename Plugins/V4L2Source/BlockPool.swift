import InletCore
import Synchronization

/// A bounded store of memory for pictures that could not stay in the driver's buffers.
///
/// Safe from any thread. Blocks come back when their last owner lets go; the pool may go away before them.
final class BlockPool: Sendable {
    private let capacity: Int
    private let state = Mutex(State())

    private struct State {
        var idle: [PictureBlock] = []
        var out = 0
    }

    init(capacity: Int) { self.capacity = capacity }

    /// Memory of at least that many bytes to be written to, or nil where all blocks are out.
    func take(byteCount: Int) -> BlockLease? {
        let block = state.withLock { state -> PictureBlock? in
            guard state.out < capacity else { return nil }
            state.out += 1
            // The size of all changes with the format, so that a block of another size is of no more use.
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

/// One picture's memory, with room behind it that libswscale may read.
///
/// `@unchecked Sendable`: written by whoever took it from the pool, before a frame refers to it, and read by frames
/// after.
@safe final class PictureBlock: @unchecked Sendable {
    let memory: UnsafeMutableRawBufferPointer
    let byteCount: Int

    /// As InletConvert's README has it: planes with 64 bytes behind them need no second pass.
    private static let readAhead = 64

    init(byteCount: Int) {
        self.byteCount = byteCount
        unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount + Self.readAhead, alignment: 64)
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { unsafe memory.deallocate() }
}

/// What a frame holds: a block, which goes back to its pool when the last owner of the frame lets go.
final class BlockLease: Sendable {
    let block: PictureBlock
    private let pool: BlockPool

    init(_ block: PictureBlock, pool: BlockPool) {
        self.block = block
        self.pool = pool
    }

    deinit { pool.giveBack(block) }
}
