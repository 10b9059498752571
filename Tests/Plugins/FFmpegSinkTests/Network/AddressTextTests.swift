import InletCore
import Testing

@testable import FFmpegSink

/// Text of addresses and options that Unicode interprets differently from libavformat.
@Suite struct AddressTextTests {
    @Test("A combining mark makes no path relative and no scheme longer")
    func combiningMarks() {
        #expect(FFmpegOutput(.hls, to: "/\u{301}live").playlistPath == "/\u{301}live/index.m3u8")
        #expect(FFmpegOutput(.hls, to: "live").playlistPath == "./live/index.m3u8")
        #expect(FFmpegOutput(.rtmp, to: "RTMPS:\u{301}//host/app").scheme == "rtmps")
    }

    @Test(
        "A scale is one letter, and digits are ASCII digits", arguments: ["5k\u{301}", "\u{665}k", "5\u{212A}", ""])
    func scales(_ text: String) {
        #expect(ScaledCount(optionText: text) == nil)
    }
}
