import CInletPlugin
import InletCore
import InletPluginIPC
import Testing

@testable import InletPluginLoader

/// The reports of a source's child, as read by the daemon.
struct SourceReportTests {
    @Test("The code of a decoder's failure arrives unchanged, and not as another with the same result")
    func codes() {
        for code: InletError.Code in [.hostNotFound, .notFound, .internal, .tlsFailed, .streamEnded, .malformedData] {
            let report = SourceReport.decoderFailure(name: "ffmpeg", code, message: "It\nfailed.", next: "openh264")
            let read = SourceReport.decoderFailure(name: "ffmpeg", code, message: "It failed.", next: "openh264")
            #expect(SourceReport(report.note) == read)
        }
    }

    @Test("A change of transport arrives as readable text, without secrets")
    func transport() {
        let reason = "3 % of the packets of rtsp://me:secret@camera/ are lost.\u{7}"
        let read = SourceReport(SourceReport.transportChange(reason).note)
        #expect(read == .transportChange("3 % of the packets of rtsp://***@camera/ are lost.\\u{7}"))
    }

    @Test("Reception figures arrive unchanged, and an unknown remedy as none")
    func reception() {
        var figures = ReceptionFigures()
        (figures.packets, figures.packetsLost, figures.packetsDuplicated) = (.max, 2, 3)
        (figures.packetsReordered, figures.packetsLate, figures.jitter) = (4, 5, .nanoseconds(6))
        (figures.keyFrameRequests, figures.keyFrameResponses) = (7, 8)
        figures.keyFrameResponseTime = .nanoseconds(9)
        figures.packetsRecovered = 10
        for remedy in [nil] + ReceptionFigures.LossRemedy.allCases.map(Optional.some) {
            figures.lossRemedy = remedy
            #expect(SourceReport(SourceReport.reception(figures).note) == .reception(figures))
        }
        var note = SourceReport.reception(figures).note
        FixedText.write("\(UInt64.max)\n2\n3\n4\n5\n6\n7\n8\n9\n10\nunheardOf", to: &note.text)
        figures.lossRemedy = nil
        #expect(SourceReport(note) == .reception(figures))
        for wrong in ["1\n2\n3\n4\n5\n6\n7\n8\n9\n10", "1\n2\n3\n4\n5\n6\n7\n8\nx\n10\n", ""] {
            FixedText.write(wrong, to: &note.text)
            #expect(SourceReport(note) == nil, "\(wrong)")
        }
    }

    @Test("A name that is no code of the result is ignored")
    func unknownCodes() {
        let result = ResultCode.result(of: .hostNotFound)
        #expect(ResultCode.code(named: "hostNotFound", of: result) == .hostNotFound)
        #expect(ResultCode.code(named: "cancelled", of: result) == nil)
        #expect(ResultCode.code(named: "unheardOf", of: result) == nil)
        #expect(ResultCode.code(named: "", of: result) == nil)
        var note = SourceReport.decoderFailure(name: "a", .hostNotFound, message: "b", next: "c").note
        FixedText.write("unheardOf\na\nc\nb", to: &note.text)
        #expect(SourceReport(note) == .decoderFailure(name: "a", .notFound, message: "b", next: "c"))
    }
}
