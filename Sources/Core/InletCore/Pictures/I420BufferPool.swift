import Synchronization

/// A bounded pool of reusable I420 memory.
///
/// A buffer returns to the pool when its last owner releases it, and its memory serves the next frame of the same size,
/// so that the steady state allocates none. Memory never exceeds ``capacity`` pictures; when all are in use,
/// ``makeBuffer(size:)`` throws and the caller drops a frame. A change of size frees the idle memory.
///
/// Safe from any thread. The pool may be released before its buffers.
public final class I420BufferPool: Sendable {
    /// The most pictures that may be in use at once.
    public let capacity: Int
    private let store: Store

    /// - Parameter capacity: at least 1; smaller numbers count as 1.
    public init(capacity: Int) {
        self.capacity = max(1, capacity)
        store = Store(capacity: max(1, capacity))
    }

    /// Returns memory for one picture, to be written and then published.
    ///
    /// The contents are whatever the memory held before. Rows are padded to 64 bytes, and each plane starts at a
    /// multiple of 64 bytes, the width of the widest vector register libyuv uses.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if all pictures are held by sinks;
    ///   ``InletError/Code/invalidConfiguration`` if the size is not ``ImageSize/isValid``.
    public func makeBuffer(size: ImageSize) throws(InletError) -> I420Draft {
        guard size.isValid else {
            throw InletError(.invalidConfiguration, "A picture of \(size) pixels cannot exist.")
        }
        guard let memory = store.take(layout: I420Layout(size: size)) else {
            throw InletError(
                .resourceExhausted,
                """
                All \(capacity) pictures of the pool are held. Let go of frames sooner, or raise the pool's capacity.
                """)
        }
        return I420Draft(memory: memory)
    }

    /// Frees the idle memory. Pictures that are in use are freed when they are returned.
    ///
    /// The pool remains usable; it then allocates memory again.
    public func purge() { store.purge() }

    /// Statistics of the pool so far.
    public var statistics: Statistics { store.statistics }

    /// Figures of a pool.
    public struct Statistics: Sendable, Hashable {
        /// Pictures in use.
        public var inUse = 0
        /// Pictures ready for reuse.
        public var idle = 0
        /// Blocks of memory allocated so far; constant in the steady state.
        public var allocations = 0
        /// Requests refused because all pictures were held.
        public var exhaustions = 0
    }

    /// The free list, shared with the memory blocks that return to it.
    final class Store: Sendable {
        private struct State {
            // Each address is the start of a block of `layout.byteCount` bytes that nothing else refers to.
            var idle: [UInt] = []
            var layout: I420Layout?
            var statistics = Statistics()
        }
        private let state = Mutex(State())
        private let capacity: Int

        init(capacity: Int) { self.capacity = capacity }

        deinit { state.withLock { Self.free(&$0) } }

        var statistics: Statistics {
            state.withLock {
                $0.statistics.idle = $0.idle.count
                return $0.statistics
            }
        }

        func take(layout: I420Layout) -> I420Memory? {
            state.withLock { state in
                if state.layout != layout {
                    Self.free(&state)
                    state.layout = layout
                }
                guard state.statistics.inUse < capacity else {
                    state.statistics.exhaustions += 1
                    return nil
                }
                state.statistics.inUse += 1
                if let address = state.idle.popLast() {
                    return I420Memory(address: address, layout: layout, store: self)
                }
                state.statistics.allocations += 1
                return I420Memory(layout: layout, store: self)
            }
        }

        /// Takes back a block; frees it if the pool has changed to another size.
        func giveBack(_ address: UInt, layout: I420Layout) {
            let keep = state.withLock { state in
                state.statistics.inUse -= 1
                guard state.layout == layout else { return false }
                state.idle.append(address)
                return true
            }
            if !keep { I420Memory.deallocate(address) }
        }

        func purge() {
            state.withLock { state in
                Self.free(&state)
                state.layout = nil
            }
        }

        private static func free(_ state: inout State) {
            for address in state.idle { I420Memory.deallocate(address) }
            state.idle.removeAll(keepingCapacity: true)
        }
    }
}
