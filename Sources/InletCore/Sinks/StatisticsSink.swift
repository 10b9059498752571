/// A sink that shows what the capture does: a page, a display, a log.
public protocol StatisticsSink: FrameSink {
    /// Called once, on the sink's thread, before ``FrameSink/start(_:)``. The reader may be kept; it answers with the
    /// last figures when the capture is over.
    func willStart(reading statistics: any StatisticsReader)
}
