import InletCore

/// A source is a class with three methods, all called on one thread: `open`, `next` until it returns nil or throws,
/// and `close`.
final class LifeSource: FrameSource {
    private let configuration: LifeConfiguration
    // The pool for pictures. Memory is reused once the last sink has released it.
    private let pool = I420BufferPool(capacity: 8)
    private var world: LifeWorld
    private var number: UInt64 = 0
    private var start: MonotonicTime?

    private static let cellSide = 8

    init(_ configuration: LifeConfiguration) {
        self.configuration = configuration
        world = LifeWorld(
            width: configuration.cells.width, height: configuration.cells.height, seed: configuration.seed)
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        SourceFormat(
            size: size, pixelFormat: .yuv420p, frameRate: configuration.frameRate, timeBase: timeBase,
            colorSpace: .bt601, sampleAspectRatio: Rational(1), pacing: .live, container: "life")
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        while true {
            // Sleep only through the context, so that a cancellation ends the sleep.
            let origin = start ?? context.clock.now
            start = origin
            try context.sleep(until: origin + .nanoseconds(time.nanoseconds))
            defer {
                world.step()
                number += 1
            }
            do throws(InletError) {
                return .frame(
                    SourceFrame(try picture(), pts: time, sequence: number, colorSpace: .bt601, flags: .key))
            } catch {
                // Sinks hold every picture: drop this frame, report the drop, and continue.
                guard error.code == .resourceExhausted else { throw error }
                context.countDrop(.poolExhausted)
            }
        }
    }

    func close() {}

    private var size: ImageSize {
        ImageSize(width: configuration.cells.width * Self.cellSide, height: configuration.cells.height * Self.cellSide)
    }

    /// One tick per frame: times are exact at any rate.
    private var timeBase: Rational { configuration.frameRate.reciprocal ?? Rational(1) }

    private var time: MediaTime { MediaTime(ticks: Int64(number), timeBase: timeBase) }

    private func picture() throws(InletError) -> I420Buffer {
        var draft = try pool.makeBuffer(size: size)
        draft.fillBlack()
        let stride = draft.strides.y
        var luma = draft.mutableBytes(of: .y)
        for y in 0..<size.height {
            for x in 0..<size.width where world.isAlive(x / Self.cellSide, y / Self.cellSide) {
                luma[y * stride + x] = 235
            }
        }
        return draft.publish()
    }
}
