import InletCore

/// Answers a sink's questions about the capturer that it belongs to, as long as there is one.
final class CapturerReader: StatisticsReader {
    private let read: @Sendable () -> CaptureReport?

    /// - Parameter read: nil when the capturer is gone.
    init(_ read: @escaping @Sendable () -> CaptureReport?) { self.read = read }

    func report() -> CaptureReport {
        if let report = read() { return report }
        var report = CaptureReport()
        (report.state, report.stateDescription) = (.ended, "ended")
        return report
    }
}
