package import InletCore

extension RTPReceiver {
    /// The highest sequence number received, with the number of its wraps in the upper 16 bits (RFC 3550, section
    /// 6.4.1).
    package var extendedHighestSequence: UInt32 { UInt32(truncatingIfNeeded: quality.highest) }

    /// The interarrival jitter in ticks (RFC 3550, section A.8).
    package var jitter: UInt32 { quality.jitter }

    /// Returns the contents of a receiver report about the stream, with the losses since the last call; nil if nothing
    /// was received.
    ///
    /// - Parameters:
    ///   - sender: the last report of the stream's sender, and when it arrived.
    package mutating func receptionReport(
        at time: MonotonicTime, sender: (report: SenderReport, arrival: MonotonicTime)? = nil
    ) -> ReceptionReport? {
        guard let ssrc, next != nil else { return nil }
        var report = ReceptionReport(ssrc: ssrc)
        report.lost = Int32(clamping: quality.lost)
        report.fractionLost = quality.takeFractionLost()
        report.extendedHighestSequence = extendedHighestSequence
        report.jitter = quality.jitter
        if let sender, sender.report.ssrc == ssrc {
            report.lastSenderReport = sender.report.shortNTPTime
            report.delay = ReceptionReport.delay(from: sender.arrival, to: time)
        }
        return report
    }
}
