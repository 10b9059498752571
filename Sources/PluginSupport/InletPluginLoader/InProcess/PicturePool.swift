import Synchronization

// Unsafe: owns the memory of pictures that a plug-in fills.
/// Memory for the pictures of a plug-in in this process, reused as soon as a picture is no longer referenced.
///
/// Keeps blocks of one length only. Safe from any thread.
@safe final class PicturePool: Sendable {
    private struct State {
        /// The addresses of unused blocks.
        var idle: [UInt] = []
        var length = 0
    }

    private let state = Mutex(State())
    /// The most blocks that are kept for later.
    private static let mostIdle = 16
    private static let alignment = 64

    deinit { state.withLock { Self.free(&$0) } }

    /// Returns memory of at least a length.
    func take(_ length: Int) -> PooledPicture {
        let known = state.withLock { state -> UInt? in
            if state.length != length {
                Self.free(&state)
                state.length = length
            }
            return state.idle.popLast()
        }
        let memory =
            unsafe known.flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) }
            ?? .allocate(byteCount: max(1, length), alignment: Self.alignment)
        return unsafe PooledPicture(UnsafeMutableRawBufferPointer(start: memory, count: length), of: self)
    }

    /// Returns memory to the pool.
    fileprivate func giveBack(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return }
        let (address, length) = (UInt(bitPattern: start), memory.count)
        let isKept = state.withLock { state in
            guard state.length == length, state.idle.count < Self.mostIdle else { return false }
            state.idle.append(address)
            return true
        }
        if !isKept { unsafe start.deallocate() }
    }

    private static func free(_ state: inout State) {
        for address in state.idle { unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
        state.idle = []
    }
}

/// Owns memory of a pool, and returns it when it is no longer referenced.
@safe final class PooledPicture: Sendable {
    // Written by the plug-in before a frame refers to it, and only read from then on.
    nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer
    private let pool: PicturePool

    fileprivate init(_ memory: UnsafeMutableRawBufferPointer, of pool: PicturePool) {
        unsafe self.memory = memory
        self.pool = pool
    }

    deinit { unsafe pool.giveBack(memory) }
}
