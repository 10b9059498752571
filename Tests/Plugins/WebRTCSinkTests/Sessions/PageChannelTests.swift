#if GStreamer
import InletCore
import InletRTC
import ReferenceTools
import Testing

@testable import WebRTCSink

@Suite struct PageChannelTests {
    @Test("A ping is answered with its number, the clock and the present picture, and nothing else is")
    func ping() throws {
        let page = PageChannel(firstTimestamp: 7) { .muted }
        let reply = try #require(page.reply(to: #"{"type":"ping","id":42}"#))
        #expect(reply.hasPrefix(#"{"type":"pong","id":42,"rtp":"#))
        #expect(reply.hasSuffix(#""state":"muted"}"#))
        #expect(page.state == #"{"type":"state","state":"muted"}"#)
        for text in [
            "", "ping", #"{"type":"pong","id":1}"#, #"{"type":"ping","id":99999999999999}"#, #"{"type":"ping"}"#,
        ] {
            #expect(page.reply(to: text) == nil)
        }
        #expect(page.reply(to: #"{"type":"ping","id":1}"# + String(repeating: " ", count: 100)) == nil)
    }

    @Test(
        "An RTP timestamp has 90000 ticks a second, rounded down, and wraps",
        arguments: [
            (Int64(0), UInt32(0), UInt32(0)), (11_111, 5, 5), (11_112, 5, 6), (1_000_000_000, 0, 90_000),
            (47_721_858_844_444, 0, UInt32.max), (47_721_858_844_445, 0, 0), (1_000_000_000, .max, 89_999),
        ])
    func timestamps(_ nanoseconds: Int64, _ first: UInt32, _ timestamp: UInt32) {
        let time = MonotonicTime(nanoseconds: nanoseconds)
        #expect(PageChannel.timestamp(of: time, from: first) == timestamp)
    }
}
#endif
