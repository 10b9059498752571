import InletConvert
import InletCore
import Synchronization

/// The resources of one sink for a conversion.
struct ConversionContext: Sendable {
    let converter: FrameConverter
    /// Pictures at the source's size, shared by all sinks.
    let pool: I420BufferPool
    /// Pictures at this sink's size.
    let scalingPool: I420BufferPool
    /// Pictures at this sink's size, rotated: a pool serves one size at a time.
    let turningPool: I420BufferPool
    /// The filters of the capture, shared by all sinks.
    let filtering: PictureFiltering?
    let countConversion: @Sendable () -> Void

    init(
        converter: FrameConverter, pool: I420BufferPool, scalingPool: I420BufferPool,
        filtering: PictureFiltering? = nil, countConversion: @escaping @Sendable () -> Void
    ) {
        self.converter = converter
        self.pool = pool
        self.scalingPool = scalingPool
        turningPool = I420BufferPool(capacity: scalingPool.capacity)
        self.filtering = filtering
        self.countConversion = countConversion
    }
}
