import InletCore

/// A source of pooled pictures that it doesn't fill either.
final class BuiltInSource: FrameSource {
    private let size: ImageSize
    private let rate: Int?
    private let pool = I420BufferPool(capacity: 8)
    private var count: UInt64 = 0
    private var start: MonotonicTime?

    /// - Parameter rate: pictures per second; nil for no limit.
    init(size: ImageSize, rate: Int? = nil) {
        self.size = size
        self.rate = rate
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        SourceFormat(
            size: size, pixelFormat: .yuv420p, timeBase: Rational(1, rate ?? 30),
            pacing: rate == nil ? .unpaced : .live)
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        if let rate {
            let start = start ?? context.clock.now
            self.start = start
            try context.sleep(until: start + .nanoseconds(Int64(count) * 1_000_000_000 / Int64(rate)))
        }
        defer { count += 1 }
        let draft = try pool.makeBuffer(size: size)
        return .frame(
            SourceFrame(
                draft.publish(), pts: MediaTime(ticks: Int64(count), timeBase: Rational(1, rate ?? 30)),
                sequence: count))
    }

    func close() {}
}
