import Synchronization

/// A bounded pool of memory for access units.
///
/// Sizes are a power of two or 1.25, 1.5 or 1.75 times that, so at most a quarter more than was asked for. Memory
/// returns when the last owner of a unit releases it, on any thread, and serves the next unit; memory that is idle for
/// long is freed. The pool may be released before its blocks.
final class AccessUnitPool: Sendable {
    private struct State {
        // Memory that nothing else refers to, with the count of takings when it was given back.
        var idle: [(address: UInt, capacity: Int, since: Int)] = []
        var bytes = 0
        var inUse = 0
        var takings = 0
        var allocations = 0
    }
    private let state = Mutex(State())
    private let maximumBytes: Int
    private let maximumBlocks: Int

    /// The smallest block.
    static let smallest = 4096
    /// The number of times that blocks are taken before idle memory is freed.
    private static let patience = 2048

    /// - Parameters:
    ///   - bytes: the most bytes of all blocks, in use and idle.
    ///   - blocks: the most blocks in use.
    init(bytes: Int, blocks: Int) {
        maximumBytes = bytes
        maximumBlocks = blocks
    }

    deinit { state.withLock { state in for block in state.idle { AccessUnitBlock.deallocate(block.address) } } }

    /// Blocks allocated so far; constant in the steady state.
    var allocations: Int { state.withLock { $0.allocations } }

    /// The bytes of all blocks, in use and idle.
    var bytes: Int { state.withLock { $0.bytes } }

    /// Returns a block of at least that many bytes; nil if the limits forbid it.
    func take(_ size: Int) -> AccessUnitBlock? {
        guard size <= maximumBytes else { return nil }
        let capacity = Self.capacity(for: size)
        let memory: (address: UInt?, capacity: Int)? = state.withLock { state in
            guard state.inUse < maximumBlocks else { return nil }
            state.takings += 1
            // A slightly larger block serves as well.
            let range = capacity...(capacity &+ capacity / 2)
            if let last = state.idle.lastIndex(where: { range.contains($0.capacity) }) {
                state.inUse += 1
                let block = state.idle.remove(at: last)
                return (block.address, block.capacity)
            }
            while state.bytes + capacity > maximumBytes, !state.idle.isEmpty { Self.freeOldest(&state) }
            guard state.bytes + capacity <= maximumBytes else { return nil }
            state.bytes += capacity
            state.inUse += 1
            state.allocations += 1
            return (nil, capacity)
        }
        return memory.map { AccessUnitBlock(capacity: $0.capacity, address: $0.address, pool: self) }
    }

    /// Returns the size of the block for the given number of bytes.
    private static func capacity(for size: Int) -> Int {
        var power = smallest
        while power &* 2 <= size { power &*= 2 }
        guard size > power else { return power }
        let step = power / 4
        return power &+ (size &- power &+ step &- 1) / step &* step
    }

    /// Takes memory back. Called by the block's `deinit`, on any thread.
    func giveBack(_ address: UInt, capacity: Int) {
        state.withLock { state in
            state.inUse -= 1
            state.idle.append((address, capacity, state.takings))
            if let oldest = state.idle.first, state.takings - oldest.since > Self.patience { Self.freeOldest(&state) }
        }
    }

    private static func freeOldest(_ state: inout State) {
        let block = state.idle.removeFirst()
        state.bytes -= block.capacity
        AccessUnitBlock.deallocate(block.address)
    }
}
