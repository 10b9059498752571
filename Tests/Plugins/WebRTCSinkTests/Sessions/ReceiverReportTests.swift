#if GStreamer
import CGStreamer
import CGStreamerPeer
import CGStreamerPeerInternals
import Testing

/// The selection among a peer's receiver reports, by statistics in GStreamer's form.
@Suite struct ReceiverReportTests {
    /// The last report of one of the peer's SSRCs.
    private struct Report {
        var reporter: UInt32
        var lastReport: UInt32
        var delay: UInt32
        var highest: UInt32
    }

    private static let old = Report(reporter: 7, lastReport: 100 << 16, delay: 9, highest: 50)
    private static let new = Report(reporter: 8, lastReport: 101 << 16, delay: 3, highest: 90)

    /// Returns the highest sequence number of the selected report; nil if none is new.
    private func inquire(_ known: inout inlet_gst_reports, _ reports: [Report]) throws -> UInt32? {
        try #require(unsafe inlet_gst_start() == nil)
        var latest = inlet_gst_feedback()
        for report in reports {
            let text =
                "application/x-rtp-source-stats, ssrc=(uint)\(report.reporter), have-rb=(boolean)true, "
                + "rb-ssrc=(uint)1, rb-lsr=(uint)\(report.lastReport), rb-dlsr=(uint)\(report.delay), "
                + "rb-exthighestseq=(uint)\(report.highest);"
            let source = unsafe try #require(unsafe gst_structure_from_string(text, nil))
            unsafe inlet_gst_add_report(&known, UnsafePointer(source), &latest)
            unsafe gst_structure_free(source)
        }
        return latest.is_known == 0 ? nil : latest.highest_sequence
    }

    @Test("A peer that reports from another SSRC is recognized, in whatever order its SSRCs are listed")
    func otherReporter() throws {
        var known = inlet_gst_reports()
        #expect(try inquire(&known, [Self.old]) == 50)
        #expect(try inquire(&known, [Self.new, Self.old]) == 90)
        var later = Self.new
        for step in UInt32(1)...4 {
            later.delay += 1
            later.highest += 1
            #expect(
                try inquire(&known, step.isMultiple(of: 2) ? [Self.old, later] : [later, Self.old]) == 90 + step)
        }
    }

    @Test("The same reports again, in another order, or fewer of them are no sign of life")
    func nothingNew() throws {
        var known = inlet_gst_reports()
        #expect(try inquire(&known, []) == nil)
        #expect(try inquire(&known, [Self.old, Self.new]) == 90)
        for reports in [[Self.old, Self.new], [Self.new, Self.old], [Self.new], [Self.old], []] {
            #expect(try inquire(&known, reports) == nil)
        }
    }

    @Test("The later one of two new reports counts, also if the times overflow or are unknown")
    func latest() throws {
        var known = inlet_gst_reports()
        let before = Report(reporter: 1, lastReport: .max - 5, delay: 3, highest: 50)
        let after = Report(reporter: 2, lastReport: .max - 1, delay: 9, highest: 90)
        let untimed = Report(reporter: 3, lastReport: 0, delay: 0, highest: 40)
        #expect(try inquire(&known, [before, after, untimed]) == 90)
        #expect(try inquire(&known, [untimed]) == nil)
        for (index, order) in [[untimed, after, before], [after, before, untimed]].enumerated() {
            let changed = order.map { report in
                var report = report
                report.highest += UInt32(index + 1)
                return report
            }
            #expect(try inquire(&known, changed) == 91 + UInt32(index))
        }
    }

    @Test("All SSRCs from which a peer reports are remembered, and each is recognized")
    func manyReporters() throws {
        var known = inlet_gst_reports()
        for number in UInt32(1)...100 {
            let report = Report(reporter: number, lastReport: 100 << 16, delay: 1, highest: number)
            #expect(try inquire(&known, [report]) == number)
            #expect(try inquire(&known, [report]) == nil)
        }
        #expect(known.count == UInt32(INLET_GST_MOST_REPORTERS))
    }
}
#endif
