#if GStreamer
import InletCore
import InletRTC
import ReferenceTools
import Testing
import WebRTCSink

/// Further offers within a connection, with aiortc at the other end.
@Suite(
    .tags(.rtcPeer), .serialized, .timeLimit(.minutes(5)),
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
struct ChangedSessionTests {
    /// Reads reports until one meets a condition.
    static func report(
        of channel: CommandChannel, until isWanted: (ReferenceTools.PeerMessage) -> Bool
    ) async throws -> ReferenceTools.PeerMessage {
        var seen: ReferenceTools.PeerMessage = [:]
        for _ in 0..<2000 {
            seen = try await channel.ask("report")
            if isWanted(seen) { return seen }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("The peer reports \(seen)")
        return seen
    }

    @Test(
        "If two offers cross, the polite side's is made again, with aiortc in either role",
        arguments: [true, false])
    func glare(_ yields: Bool) async throws {
        let (first, ours) = (DataChannelParameters("first"), DataChannelParameters("ours", .lossy))
        try await SignalingPeerTests.with(.asSent, .offering, channels: [first], yields: yields) {
            channel, session in
            var events = session.events().makeAsyncIterator()
            try await SignalingPeerTests.pictures(20, by: channel)
            channel.isPeerHeld = true
            try await channel.ask("reoffer", ["channel": .string("theirs"), "yields": .bool(!yields)])
            try session.configure { $0.channels.append(ours) }
            // The peer has this side's offer, but this side doesn't have the peer's.
            _ = try await Self.report(of: channel) { $0["offers"]?.int == 2 }
            channel.isPeerHeld = false
            var (missing, isAgreed): (Set, Bool) = ([ours, DataChannelParameters("theirs")], false)
            while !missing.isEmpty || !isAgreed, let event = await events.next() {
                switch event {
                case .agreed: isAgreed = true
                case .channelOpened(let channel): missing.remove(channel)
                case .failure(let error): Issue.record(error)
                default: break
                }
            }
            #expect(missing.isEmpty && isAgreed)
            let seen = try await Self.report(of: channel) { $0["answers"]?.int == 1 }
            #expect(seen["kept"]?.int == (yields ? 1 : 0) && seen["yielded"]?.int == (yields ? 0 : 1))
            #expect(seen["offers"]?.int == (yields ? 3 : 2))
            #expect(seen["connections"]?.int == 1 && session.state == .connected)
            let count = seen["pictures"]?.int ?? 0
            _ = try await Self.report(of: channel) { ($0["pictures"]?.int ?? 0) >= count + 20 }
        }
    }

    @Test("Five changes are one offer within the same connection, and pictures return with the next")
    func five() async throws {
        try await SignalingPeerTests.with(.asSent, .offering, channels: [DataChannelParameters("first")]) {
            channel, session in
            var events = session.events().makeAsyncIterator()
            try await SignalingPeerTests.pictures(20, by: channel)
            try session.configure {
                $0.channels += [DataChannelParameters("orders"), DataChannelParameters("timecode", .lossy)]
                $0.isSending = false
                $0.maximumBitrate = 400_000
                $0.trackName = TrackName(stream: "studio", track: "camera-2")
            }
            while let event = await events.next() { if case .agreed = event { break } }
            var seen = try await channel.ask("report")
            #expect(seen["offers"]?.int == 2)
            #expect(seen["connections"]?.int == 1)
            let sdp = seen["sdp"]?.text ?? ""
            for line in ["a=inactive", "b=TIAS:400000", "a=msid:studio camera-2"] {
                #expect(sdp.contains(line + "\r\n"), "\(line)")
            }
            for name in ["orders", "timecode"] {
                let delivery: DataDelivery = name == "orders" ? .ordered : .lossy
                _ = try await Self.report(of: channel) { seen in
                    try? session.send(.text(name), over: delivery, labelled: name)
                    return "\(seen["messages"] ?? .null)".contains(name)
                }
            }
            // All pictures on their way have arrived: no more come until the session changes again.
            let silent = try await channel.ask("report")["pictures"]?.int ?? 0
            let sent = session.statistics.sent
            #expect(sent >= 20)
            try session.configure { $0.isSending = true }
            seen = try await Self.report(of: channel) { ($0["pictures"]?.int ?? 0) >= silent + 20 }
            #expect(seen["offers"]?.int == 3)
            #expect(seen["connections"]?.int == 1)
            #expect(session.state == .connected && session.statistics.sent > sent)
        }
    }

    @Test(
        "Data channels that a further offer adds, and the peer rejects or omits, do not affect the picture",
        arguments: ["rejected", "missing"])
    func rejectedChannels(_ section: String) async throws {
        try await SignalingPeerTests.with(.asSent, .offering, peer: ["--no-channels", section]) {
            channel, session in
            var events = session.events().makeAsyncIterator()
            try await SignalingPeerTests.pictures(20, by: channel)
            try session.configure { $0.channels = [DataChannelParameters("orders")] }
            var isRejected = false
            until: while let event = await events.next() {
                switch event {
                case .agreed: break until
                case .channelsRejected: isRejected = true
                case .failure(let error):
                    Issue.record(error)
                    return
                default: break
                }
            }
            #expect(isRejected)
            var seen = try await channel.ask("report")
            #expect(seen["sdp"]?.text.contains("m=application ") == true && seen["offers"]?.int == 2)
            let count = seen["pictures"]?.int ?? 0
            seen = try await Self.report(of: channel) { ($0["pictures"]?.int ?? 0) >= count + 20 }
            #expect(seen["connections"]?.int == 1 && session.state == .connected)
        }
    }

    /// Returns whether the peer has created decoders for these codecs in sequence, and the last has produced 20
    /// pictures.
    static func hasDecoded(_ codecs: [String], _ report: ReferenceTools.PeerMessage) -> Bool {
        guard case .list(let made) = report["decoders"] else { return false }
        let entries = made.compactMap { if case .object(let entry) = $0 { entry } else { nil } }
        return entries.compactMap { $0["codec"]?.text } == codecs && entries.last?["count"]?.int ?? 0 >= 20
    }

    @Test(
        "The codec changes and changes back within a connection, among other changes, whichever side offered first",
        arguments: [PeerSessionPolicy.Role.offering, .answering])
    func codecs(_ role: PeerSessionPolicy.Role) async throws {
        try await SignalingPeerTests.with(.asSent, role) { channel, session in
            var events = session.events().makeAsyncIterator()
            if role == .answering { try await channel.ask("offer") }
            let first = role == .answering ? 0 : 1
            try await SignalingPeerTests.pictures(20, by: channel)
            #expect(session.statistics.codec == .h264)
            let sent = session.statistics.sent
            try session.configure {
                $0.codecs = [.vp8, .h264]
                $0.maximumBitrate = 400_000
                $0.channels = [DataChannelParameters("orders")]
            }
            while let event = await events.next() { if case .agreed = event { break } }
            var seen = try await Self.report(of: channel) { Self.hasDecoded(["H264", "VP8"], $0) }
            #expect(seen["offers"]?.int == first + 1 && session.statistics.codec == .vp8)
            #expect(seen["sdp"]?.text.contains("b=TIAS:400000\r\n") == true)
            // The pictures of the previous codec count as well.
            #expect(session.statistics.sent >= sent + 20)
            try session.configure { $0.codecs = [.h264] }
            seen = try await Self.report(of: channel) { Self.hasDecoded(["H264", "VP8", "H264"], $0) }
            #expect(seen["offers"]?.int == first + 2 && session.statistics.codec == .h264)
            #expect(seen["connections"]?.int == 1 && seen["unread"]?.int == 0 && session.state == .connected)
            let error = #expect(throws: InletError.self) { try session.configure { $0.codecs = [.av1] } }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test("Two codec changes, the second before the peer's answer, are offered one after the other")
    func quickCodecs() async throws {
        try await SignalingPeerTests.with(.asSent, .offering) { channel, session in
            var events = session.events().makeAsyncIterator()
            try await SignalingPeerTests.pictures(20, by: channel)
            channel.isPeerHeld = true
            try session.configure { $0.codecs = [.vp8] }
            // The peer has answered, but this side doesn't have the answer, which contains only VP8.
            _ = try await Self.report(of: channel) { $0["offers"]?.int == 2 }
            try session.configure { $0.codecs = [.h264] }
            channel.isPeerHeld = false
            var agreed = 0
            while agreed < 2, let event = await events.next() {
                switch event {
                case .agreed: agreed += 1
                case .failure(let error):
                    Issue.record(error)
                    return
                default: break
                }
            }
            #expect(agreed == 2 && session.statistics.codec == .h264)
            var seen = try await channel.ask("report")
            #expect(seen["offers"]?.int == 3 && seen["connections"]?.int == 1 && session.state == .connected)
            let count = seen["pictures"]?.int ?? 0
            seen = try await Self.report(of: channel) { ($0["pictures"]?.int ?? 0) >= count + 20 }
            #expect(seen["unread"]?.int == 0)
        }
    }

    @Test("A peer that accepts only the second codec is sent it within the first exchange")
    func secondCodec() async throws {
        try await SignalingPeerTests.with(.asSent, .offering, peer: ["--codec", "VP8"]) { channel, session in
            let seen = try await Self.report(of: channel) { Self.hasDecoded(["VP8"], $0) }
            #expect(seen["offers"]?.int == 1 && seen["connections"]?.int == 1 && seen["unread"]?.int == 0)
            #expect(session.statistics.codec == .vp8 && session.state == .connected)
        }
    }

    @Test("A further peer offer with only another codec is followed, but not if it has the present one, too")
    func otherCodec() async throws {
        try await SignalingPeerTests.with(.asSent, .offering, channels: [DataChannelParameters("first")]) {
            channel, session in
            try await SignalingPeerTests.pictures(20, by: channel)
            try await channel.ask("reoffer", ["channel": .string("theirs"), "codec": .string("VP8")])
            var seen = try await Self.report(of: channel) { Self.hasDecoded(["H264", "VP8"], $0) }
            #expect(seen["answers"]?.int == 1 && seen["connections"]?.int == 1 && seen["unread"]?.int == 0)
            #expect(session.statistics.codec == .vp8 && session.state == .connected)
            try await channel.ask("reoffer", ["channel": .string("more"), "codec": .string("")])
            seen = try await Self.report(of: channel) { $0["answers"]?.int == 2 }
            let count = seen["pictures"]?.int ?? 0
            seen = try await Self.report(of: channel) { ($0["pictures"]?.int ?? 0) >= count + 20 }
            #expect(Self.hasDecoded(["H264", "VP8"], seen) && seen["connections"]?.int == 1)
            #expect(session.statistics.codec == .vp8 && session.state == .connected)
        }
    }
}
#endif
