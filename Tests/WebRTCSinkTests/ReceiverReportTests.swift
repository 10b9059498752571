#if WebRTC
    import CGStreamer
    import Testing

    /// Which of a peer's receiver reports counts, by statistics in GStreamer's form.
    @Suite struct ReceiverReportTests {
        /// Statistics with a report from each of the peer's SSRCs, in this order.
        private static func feedback(
            _ reports: [(lastReport: UInt32, delay: UInt32, highest: UInt32)]
        ) throws -> inlet_gst_feedback {
            #expect(unsafe inlet_gst_start() == nil)
            let fields = reports.enumerated().map { index, report in
                "s\(index)=(structure)[application/x-rtp-source-stats, have-rb=(boolean)true, rb-ssrc=(uint)7, "
                    + "rb-lsr=(uint)\(report.lastReport), rb-dlsr=(uint)\(report.delay), "
                    + "rb-exthighestseq=(uint)\(report.highest)]"
            }
            let text = (["statistics", "own=(structure)[own, have-rb=(boolean)false]"] + fields).joined(separator: ", ")
            let statistics = unsafe try #require(unsafe gst_structure_from_string(text + ";", nil))
            defer { unsafe gst_structure_free(statistics) }
            let feedback = unsafe inlet_gst_latest_feedback(UnsafePointer(statistics))
            #expect(feedback.is_known == (reports.isEmpty ? 0 : 1))
            return feedback
        }

        private static func latest(_ reports: [(lastReport: UInt32, delay: UInt32, highest: UInt32)]) throws -> UInt32 {
            try feedback(reports).highest_sequence
        }

        @Test("Whichever SSRC reports anything new, the peer is heard")
        func anySource() throws {
            // That on retransmissions, which no sender report is sent for, says the same for as long as there are none.
            let (media, other) = ((UInt32(100 << 16), UInt32(9), UInt32(50)), (UInt32(0), UInt32(0), UInt32(7)))
            let (later, further) = ((UInt32(100 << 16), UInt32(70), UInt32(50)), (UInt32(0), UInt32(0), UInt32(8)))
            let seen = try [[media, other], [later, other], [media, further], [other, media], [other, later]].map {
                try Self.feedback($0).fingerprint
            }
            #expect(Set(seen).count == seen.count)
            #expect(try Self.feedback([media, other]).fingerprint == seen[0])
        }

        @Test("A peer that reports from another SSRC after a change is heard, in whatever order its SSRCs are listed")
        func otherSource() throws {
            let (old, new) = ((UInt32(100 << 16), UInt32(9), UInt32(50)), (UInt32(101 << 16), UInt32(3), UInt32(90)))
            #expect(try Self.latest([]) == 0)
            #expect(try Self.latest([old]) == 50)
            for order in [[old, new], [new, old]] { #expect(try Self.latest(order) == 90) }
        }

        @Test("Of two reports on the same sender report the one made later counts")
        func sameSenderReport() throws {
            let (old, new) = ((UInt32(100 << 16), UInt32(9), UInt32(50)), (UInt32(100 << 16), UInt32(70), UInt32(90)))
            for order in [[old, new], [new, old]] { #expect(try Self.latest(order) == 90) }
        }

        @Test("The times of reports overflow, and those before the first sender report have none")
        func limits() throws {
            let (old, new) = ((UInt32.max - 5, UInt32(3), UInt32(50)), (UInt32.max - 1, UInt32(9), UInt32(90)))
            let (early, first) = ((UInt32(0), UInt32(0), UInt32(40)), (UInt32(0), UInt32(0), UInt32(45)))
            for order in [[old, new], [new, old]] { #expect(try Self.latest(order) == 90) }
            for order in [[early, first], [first, early]] { #expect(try Self.latest(order) == 45) }
            for order in [[early, old], [old, early]] { #expect(try Self.latest(order) == 50) }
        }
    }
#endif
