#if GStreamer
import FFmpegSink
import InletCapture
import InletCore
import InletRTC
import WebRTCEngine
import PatternSource
import ReferenceTools
import Testing
import WebRTCSink

/// Peer sessions and changes within them, with Chromium at the other end.
@Suite(
    .tags(.chromium), .serialized, .timeLimit(.minutes(5)),
    .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
struct BrowserSessionTests {
    /// Runs a capture with a session while `body` runs.
    private static func with(
        _ role: PeerSessionPolicy.Role, pageSends: Bool,
        configure change: (inout PeerSessionConfiguration) -> Void = { _ in },
        _ body: (BrowserChannel, any PeerSession) async throws -> Void
    ) async throws {
        let publisher = PeerPublisher { FFmpegVideoEncoder() }
        let capturer = Capturer(
            PatternConfiguration(.timecode, size: ImageSize(width: 320, height: 240), frameRate: Rational(30)))
        capturer.attach(PeerSinkConfiguration(publisher))
        let channel = try await aside { try BrowserChannel(sends: pageSends) }
        defer { channel.stop() }
        async let outcome = capturer.run()
        do {
            var policy = PeerSessionPolicy(role: role, name: "test")
            (policy.trickles, policy.attempts) = (true, 5)
            let session = try publisher.connect(channel, policy, configure: change)
            if role == .answering { try await channel.run("return offer()") }
            try await body(channel, session)
            #expect(try await channel.report().trouble == "")
            #expect(session.state == .connected)
        } catch {
            capturer.stop()
            _ = try? await outcome
            throw error
        }
        capturer.stop()
        _ = try await outcome
    }

    /// Waits until the page has shown further pictures of a codec, with increasing numbers.
    private static func shown(_ codec: String, by channel: BrowserChannel) async throws {
        let before = try await channel.report()
        var (numbers, seen): ([Int], BrowserChannel.Report) = ([], before)
        for _ in 0..<3000 where numbers.count < 10 || seen.inbound != codec || seen.decoded < before.decoded + 30 {
            seen = try await channel.report()
            if let number = try await channel.number(), number != numbers.last, seen.inbound == codec {
                numbers.append(number)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(seen.inbound == codec && seen.decoded >= before.decoded + 30, "\(seen)")
        #expect(numbers.count >= 10 && numbers == numbers.sorted(), "\(numbers)")
    }

    /// Expects that a key-frame request reaches the page, whichever codecs it sent before.
    private static func requestsKeyFrame(_ session: any PeerSession, by channel: BrowserChannel) async throws {
        let before = try await channel.report().keyFrameRequests
        let receiving = try #require(session as? any RemoteTrackSession)
        var seen = before
        for _ in 0..<300 where seen == before {
            // GStreamer sends at most one request in a while.
            receiving.requestRemoteKeyFrame()
            try await Task.sleep(for: .milliseconds(100))
            seen = try await channel.report().keyFrameRequests
        }
        #expect(seen > before)
    }

    private static func agreed(_ events: inout AsyncStream<PeerSessionEvent>.Iterator) async {
        while let event = await events.next() {
            if case .failure(let error) = event { Issue.record(error) }
            if case .agreed = event { return }
        }
        Issue.record("The session ended.")
    }

    @Test(
        "The codec changes from H.264 to VP8 and back within the connection, and Chromium keeps showing pictures",
        arguments: [PeerSessionPolicy.Role.offering, .answering])
    func codecs(_ role: PeerSessionPolicy.Role) async throws {
        try await Self.with(role, pageSends: false) { channel, session in
            var events = session.events().makeAsyncIterator()
            try await Self.shown("video/H264", by: channel)
            let offers = try await channel.report().offers
            for (number, (codecs, name)) in [
                ([VideoCodec.vp8, .h264], "video/VP8"), ([.h264], "video/H264"), ([.vp8], "video/VP8"),
            ].enumerated() {
                try session.configure { $0.codecs = codecs }
                await Self.agreed(&events)
                try await Self.shown(name, by: channel)
                #expect(session.statistics.codec == codecs[0])
                #expect(try await channel.report().offers == offers + number + 1)
            }
            #expect(try await channel.report().connections == 1)
        }
    }

    /// Expects that each picture of the page's camera was read, and that this side duplicated none.
    private static func expectWhole(_ remote: RemoteRun) {
        #expect(CameraBrowser.mistakes(in: remote.readings, at: remote.times) == [])
    }

    @Test(
        "Chromium sends its camera and shows this side's pictures in one session; the codec of both ways changes",
        arguments: [PeerSessionPolicy.Role.offering, .answering])
    func twoWays(_ role: PeerSessionPolicy.Role) async throws {
        try await Self.with(role, pageSends: true) {
            $0.isReceiving = true
        } _: { channel, session in
            var events = session.events().makeAsyncIterator()
            try await RemoteRun(session).play { remote in
                try await remote.numbers(beyond: 60)
                try await Self.shown("video/H264", by: channel)
                #expect(remote.openings == 1)
                for (number, codec) in [VideoCodec.vp8, .h264].enumerated() {
                    try session.configure { $0.codecs = [codec] }
                    await Self.agreed(&events)
                    let name = codec == .vp8 ? "video/VP8" : "video/H264"
                    try await Self.shown(name, by: channel)
                    try await remote.until("the source of \(codec)") { $0.openings == number + 2 }
                    do {
                        try await remote.numbers(beyond: remote.readings.count + 30)
                    } catch {
                        // Whether the page received the requests for a key frame.
                        Issue.record("\(error) \(try await channel.report())")
                        return
                    }
                    #expect(try await channel.report().outbound == name)
                    try await Self.requestsKeyFrame(session, by: channel)
                }
                Self.expectWhole(remote)
            }
            #expect(try await channel.report().connections == 1)
        }
    }

    @Test("Either side changes the direction: Chromium sends and shows what was agreed on, and nothing else")
    func directions() async throws {
        try await Self.with(.offering, pageSends: true) {
            $0.isReceiving = true
        } _: { channel, session in
            var events = session.events().makeAsyncIterator()
            try await RemoteRun(session).play { remote in
                try await Self.shown("video/H264", by: channel)
                try await remote.numbers(beyond: 30)
                // Changes by this side: its stated direction, and the one that the page sees.
                for (sends, receives, seen) in [
                    (false, true, "sendonly"), (false, false, "inactive"), (true, false, "recvonly"),
                    (true, true, "sendrecv"),
                ] {
                    try session.configure { ($0.isSending, $0.isReceiving) = (sends, receives) }
                    await Self.agreed(&events)
                    try await Self.expect(seen, channel, remote)
                }
                // Changes by the page, which makes the offer.
                for direction in ["recvonly", "inactive", "sendonly", "sendrecv"] {
                    try await channel.run("return direct('\(direction)')")
                    for _ in 0..<1000 where try await channel.report().direction != direction {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    try await Self.expect(direction, channel, remote)
                }
                Self.expectWhole(remote)
                #expect(remote.openings == 1)
            }
            #expect(try await channel.report().connections == 1)
        }
    }

    /// Expects further pictures in the page's stated direction and none in the other.
    private static func expect(_ direction: String, _ channel: BrowserChannel, _ remote: RemoteRun) async throws {
        let (sends, receives) = (direction.hasPrefix("send"), direction == "sendrecv" || direction == "recvonly")
        if !sends { try await remote.until("an interruption") { $0.isInterrupted } }
        let still = try await Waiting.untilStill("pictures that no direction lets through") {
            let seen = try await channel.report()
            return [
                receives ? nil : seen.decoded, sends ? nil : seen.encoded, sends ? nil : remote.readings.count,
            ]
        }
        #expect(try await channel.report().direction == direction)
        if sends { try await remote.numbers(beyond: remote.readings.count + 30) }
        if receives { try await shown("video/H264", by: channel) }
        if !sends, !receives { try await Task.sleep(for: .seconds(1)) }
        let after = try await channel.report()
        if !receives { #expect(after.decoded == still[0], "\(direction)") }
        if !sends { #expect(after.encoded == still[1] && remote.readings.count == still[2], "\(direction)") }
    }
}
#endif
