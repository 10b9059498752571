import InletCore

/// A source is a class with three methods: `open`, `next` until it returns nil or throws, and `close`.
final class BallSource: FrameSource {
    private let configuration: BallConfiguration
    // The pool for pictures. Memory is reused once Inlet has released it.
    private let pool = I420BufferPool(capacity: 8)
    private var number: UInt64 = 0
    private var start: MonotonicTime?

    init(_ configuration: BallConfiguration) { self.configuration = configuration }

    func open(_ context: SourceContext) throws -> SourceFormat {
        SourceFormat(
            size: configuration.size, pixelFormat: .yuv420p, frameRate: configuration.frameRate, timeBase: timeBase,
            colorSpace: .bt601, sampleAspectRatio: Rational(1), pacing: .realtime, container: "ball")
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        let origin = start ?? context.clock.now
        start = origin
        let time = MediaTime(ticks: Int64(number), timeBase: timeBase)
        // Sleep only through the context, so that a cancellation ends the sleep.
        try context.sleep(until: origin + .nanoseconds(time.nanoseconds))
        let picture = try picture()
        defer { number += 1 }
        return .frame(SourceFrame(picture, pts: time, sequence: number, colorSpace: .bt601, flags: .key))
    }

    func close() {}

    /// One tick per frame: times are exact at any rate.
    private var timeBase: Rational { configuration.frameRate.reciprocal ?? Rational(1) }

    private func picture() throws -> I420Buffer {
        var draft = try pool.makeBuffer(size: configuration.size)
        draft.fillBlack()
        let (size, radius, stride) = (configuration.size, configuration.radius, draft.strides.y)
        let (x, y) = (bounce(3, within: size.width), bounce(2, within: size.height))
        var luma = draft.mutableBytes(of: .y)
        for dy in -radius...radius {
            for dx in -radius...radius where dx * dx + dy * dy <= radius * radius {
                luma[(y + dy) * stride + x + dx] = 235
            }
        }
        return draft.publish()
    }

    /// Returns the position of the ball's centre between two walls. The speed is in pixels per frame.
    private func bounce(_ speed: Int, within length: Int) -> Int {
        let way = max(1, length - 2 * configuration.radius - 1)
        let place = Int(number % UInt64(2 * way)) * speed % (2 * way)
        return configuration.radius + (place <= way ? place : 2 * way - place)
    }
}
