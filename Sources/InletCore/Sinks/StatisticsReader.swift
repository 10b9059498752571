/// Tells what the capture has done so far: what a sink that shows figures is given.
public protocol StatisticsReader: Sendable {
    /// A snapshot. Safe from any thread, at any time; takes microseconds, and holds nobody up.
    func report() -> CaptureReport
}
