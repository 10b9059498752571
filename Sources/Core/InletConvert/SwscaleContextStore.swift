import InletCore
import Synchronization

/// A cache of libswscale contexts for the next pictures of their shapes.
///
/// Making a context costs far more than converting a small picture, and two threads must not use one at once. Each
/// conversion takes a context out and puts it back. Safe from any thread.
final class SwscaleContextStore: Sendable {
    /// The most idle contexts; with more threads or shapes than that, the least recently used is freed.
    static let capacity = 8

    // In the order of last use.
    private let idle = Mutex<[SwscaleContext]>([])

    /// Converts a frame whose planes have been checked against its format.
    func convert(
        _ frame: SourceFrame, format: NativeFormat, range: ColorRange, pool: I420BufferPool
    ) throws(InletError) -> I420Buffer {
        // libswscale makes 1-bit formats full range itself, and would stretch that.
        let isFullRange = range == .full && format.samples != .bilevel
        let shape = SwscaleContext.Shape(format: format.avFormat, size: frame.size, isFullRange: isFullRange)
        var draft = try pool.makeBuffer(size: frame.size)
        let context: SwscaleContext
        if let idle = take(shape) { context = idle } else { context = try SwscaleContext(shape, format: format) }
        try context.convert(frame, into: &draft)
        // A context that failed is not put back: its state is unknown.
        put(context)
        return draft.publish()
    }

    private func take(_ shape: SwscaleContext.Shape) -> SwscaleContext? {
        idle.withLock { idle in
            idle.lastIndex { $0.shape == shape }.map { idle.remove(at: $0) }
        }
    }

    private func put(_ context: SwscaleContext) {
        // Freed after the lock is released.
        let surplus = idle.withLock { idle in
            idle.append(context)
            return idle.count > Self.capacity ? idle.removeFirst() : nil
        }
        _ = surplus
    }
}
