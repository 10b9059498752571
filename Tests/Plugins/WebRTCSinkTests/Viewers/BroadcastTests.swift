#if GStreamer
import Foundation
import InletCapture
import InletCore
import InletRTC
import InletTesting
import ReferenceTools
import Testing
import WebRTCSink

/// The track and the messages: controlled by an application and observed by browsers.
@Suite(.tags(.chromium, .rtcPeer), .serialized) struct BroadcastTests {
    /// Returns the size of the video, and the green value of a pixel in the middle of its upper half and of its
    /// lower half.
    private static let look = """
        const video = document.getElementById("video");
        if (!video.videoWidth || video.readyState < 2) return null;
        const canvas = document.createElement("canvas"), width = canvas.width = video.videoWidth, height = canvas.height = video.videoHeight;
        const context = canvas.getContext("2d");
        context.drawImage(video, 0, 0);
        const column = context.getImageData(width / 2, 0, 1, height).data, at = y => column[Math.round(y) * 4 + 1];
        """

    @Test(
        "Chromium rotates a portrait source's pictures by the header extension, and pixels and size are right",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func portrait() async throws {
        struct Seen: Decodable {
            var size: [Int]
            var upper: Int
            var lower: Int
        }
        try await ViewerRun.with(source: PortraitSource()) { run in
            let seen: [Seen] = try await ViewerRun.peer(
                "page-probe.py", python: "/usr/bin/python3",
                [
                    run.address,
                    "if (!window.sent) peer.getStats().then(all => all.forEach(each => { if (each.frameWidth === 640) window.sent = each; }));"
                        + "return window.sent ? { size: [sent.frameWidth, sent.frameHeight], upper: 0, lower: 0 } : null;",
                    Self.look
                        + "return { size: [width, height], upper: at(height / 4), lower: at(height * 3 / 4) };",
                ])
            // The sent picture is on its side; the browser rotated it.
            #expect(seen.first?.size == [640, 480])
            let first = try #require(seen.last)
            #expect(first.size == [480, 640])
            #expect(first.upper > 240)
            #expect(first.lower < 15)
        }
    }

    @Test(
        "A player that does not know the header extension gets upright pictures",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func upright() async throws {
        struct Seen: Decodable {
            var size: String?
            var unread: Int
        }
        try await ViewerRun.with(source: PortraitSource()) { run in
            // These pictures contain no frame number.
            let seen: Seen = try await ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython, [run.address + "/whep", "--frames", "10"])
            #expect(seen.unread == 10)
            #expect(seen.size == "480x640")
        }
    }

    @Test(
        "Messages return over both kinds of channels, texts and bytes, and one that is too long ends its channel",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func messages() async throws {
        struct Seen: Decodable {
            var status: Int
            var ordered: Bool
            var lossy: Bool
            var counts: [Int]
            var limit: [String]
            var closed: Bool?
            var error: String?
        }
        try await ViewerRun.with(size: ImageSize(width: 320, height: 240)) {
            ($0.channels.messageBytes, $0.channels.drainedBytes) = (10_000, 100)
        } _: { run in
            let events = run.broadcast.viewerEvents
            let echo = Self.echo(run)
            defer { echo.cancel() }
            let seen: Seen = try await ViewerRun.peer(
                "whep-messages.py", python: ViewerRun.aiortcPython,
                [run.address + "/whep", "--large", "20000"])
            #expect(seen.status == 201)
            #expect(seen.counts == [42, 42])
            #expect(seen.limit == ["a=max-message-size:10000"])
            #expect(seen.ordered)
            #expect(seen.lossy)
            #expect(seen.closed == true)
            #expect(seen.error == nil)
            #expect(throws: InletError.self) {
                try run.broadcast.send(.binary(Array(repeating: 0, count: 10_001)))
            }
            var told: [String: Set<String>] = [:]
            for await event in events {
                switch event {
                case .channelOpened(_, let channel): told["opened", default: []].insert(channel.label)
                case .channelDrained(_, let channel): told["drained", default: []].insert(channel.label)
                case .channelClosed(_, let channel): told["closed", default: []].insert(channel.label)
                default: break
                }
                if case .left = event { break }
            }
            // The session ends before the other channel is closed.
            #expect(told["closed"]?.contains("control") == true)
            #expect(told["opened"] == ["control", "events"] && told["drained"] == told["opened"], "\(told)")
            #expect(throws: InletError.self) { try run.broadcast.send(.text("hello"), to: "nobody") }
        }
    }

    /// Returns each message on the channel it came from.
    private static func echo(_ run: ViewerRun) -> Task<Void, Never> {
        let messages = run.broadcast.messages
        return Task { [broadcast = run.broadcast] in
            for await message in messages {
                try? broadcast.send(
                    message.body, over: message.channel == "control" ? .ordered : .lossy,
                    labelled: message.channel, to: message.peer)
            }
        }
    }

    @Test(
        "A page shows a disabled track in black, at its adapted size, and an unpublished one as text, and recovers",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func steering() async throws {
        let folder = try TemporaryFolder()
        func step(_ number: Int) -> String { folder.path("\(number)") }
        try await ViewerRun.with { run in
            async let found: [String?] = ViewerRun.peer(
                "page-probe.py", python: "/usr/bin/python3",
                [
                    // A page without a message about the end notices it after 15 s or more, when its ICE consent
                    // expires.
                    run.address, "--limit", "12", Self.look + "return `${width}x${height}`;",
                    "touch:" + step(1),
                    Self.look + "return width === 320 ? `${width}x${height}` : null;",
                    "touch:" + step(2),
                    "return document.getElementById('state').textContent === 'camera off' ? 'disabled' : null;",
                    Self.look + "for (let y = 4; y < height; y += 4) if (at(y) > 20) return null; return 'black';",
                    "touch:" + step(3),
                    "return document.getElementById('state').textContent === 'live' ? 'live' : null;",
                    "touch:" + step(4),
                    "return /^The camera is off/.test(document.getElementById('trouble').textContent) ? 'off' : null;",
                    "touch:" + step(5),
                    "return document.getElementById('state').textContent === 'live' ? 'live' : null;",
                ])
            try await Self.appears(step(1))
            try run.broadcast.adapt(width: 320, height: 240)
            try await Self.appears(step(2))
            run.broadcast.isEnabled = false
            try await Self.appears(step(3))
            run.broadcast.isEnabled = true
            try await Self.appears(step(4))
            run.broadcast.unpublish()
            try await Self.appears(step(5))
            #expect(try await run.status("/whep", ["-H", "content-type: application/sdp", "-d", "v=0"]) == 409)
            run.broadcast.publish()
            let seen = try await found
            #expect(seen == ["640x480", "320x240", "disabled", "black", "live", "off", "live"])
        }
    }

    @Test(
        "A page continues when the track is published again at once, whatever it was sent in between",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func publishedAgain() async throws {
        let folder = try TemporaryFolder()
        func step(_ number: Int) -> String { folder.path("\(number)") }
        let rounds = 5
        // Longer than a page takes to leave.
        let goesOn = """
            const now = Date.now(), count = document.getElementById("video").getVideoPlaybackQuality().totalVideoFrames;
            window.since ??= now;
            const flows = count > (window.count ?? count) && document.getElementById("state").textContent === "live";
            window.count = count;
            if (!flows || now - window.since < 1500) return null;
            window.since = window.count = undefined;
            return "live";
            """
        try await ViewerRun.with { run in
            async let found: [String?] = ViewerRun.peer(
                "page-probe.py", python: "/usr/bin/python3",
                [run.address, "--limit", "12", goesOn] + (0..<rounds).flatMap { ["touch:" + step($0), goesOn] })
            for round in 0..<rounds {
                try await Self.appears(step(round))
                var states = run.broadcast.states.makeAsyncIterator()
                #expect(await states.next()?.shown == .live)
                run.broadcast.unpublish()
                #expect(await states.next()?.shown == .off)
                run.broadcast.publish()
            }
            #expect(try await found == Array(repeating: "live", count: rounds + 1))
        }
    }

    @Test(
        "A source that is silent longer than a viewer's time-out mutes the page, and returns in the same session",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func silence() async throws {
        let beats = (0..<60).flatMap { number -> [ScriptedSource.Step] in
            [.frame(ScriptedFrame(pts: number)), .sleep(.milliseconds(33))]
        }
        let format = ScriptedSource.format(size: ImageSize(width: 320, height: 240), pacing: .live)
        // Long enough for a browser to connect. The watchdog reopens the source after 10 seconds, and that takes
        // another 3.
        let source = ScriptedSourceConfiguration([
            ScriptedSource.Script(
                format: format, (0..<6).flatMap { _ in beats } + [.stall(.seconds(60))]),
            ScriptedSource.Script(
                format: format, opening: [.stall(.seconds(3))], (0..<10).flatMap { _ in beats }),
        ])
        try await ViewerRun.with(source: source) { run in
            let state = "const state = document.getElementById('state').textContent;"
            let seen: [String?] = try await ViewerRun.peer(
                "page-probe.py", python: "/usr/bin/python3",
                [
                    run.address, state + "if (state === 'live') return window.first = place, state;",
                    state + "if (state === 'no signal') return document.getElementById('trouble').textContent;",
                    state + "if (state === 'live') return place === window.first ? 'the same' : 'another';",
                ])
            #expect(seen == ["live", "No signal. The picture returns automatically.", "the same"])
        }
    }

    @Test(
        "Chromium's messages return, too, over channels that it opens while pictures flow",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func browserMessages() async throws {
        try await ViewerRun.with(size: ImageSize(width: 320, height: 240)) { run in
            let echo = Self.echo(run)
            defer { echo.cancel() }
            let open = """
                if (!peer || peer.connectionState !== "connected") return null;
                const open = (name, options) => {
                  const channel = peer.createDataChannel(name, options);
                  channel.binaryType = "arraybuffer"; window[name] = [];
                  channel.onopen = () => { channel.send("zoom in"); channel.send(new Uint8Array([0, 1, 255])); channel.send(""); channel.send(new ArrayBuffer(0)); channel.send(new Uint8Array(65536)); };
                  channel.onmessage = event => window[name].push(typeof event.data === "string" ? `'${event.data}'` : event.data.byteLength > 9 ? event.data.byteLength : `[${Array.from(new Uint8Array(event.data))}]`);
                };
                open("control"); open("events", { ordered: false, maxRetransmits: 0 });
                return "open";
                """
            let seen: [String?] = try await ViewerRun.peer(
                "page-probe.py", python: "/usr/bin/python3",
                [
                    run.address, open,
                    "return window.control.length < 5 ? null : window.control.join('|');",
                    "return window.events.length < 5 ? null : window.events.map(String).sort().join('|');",
                ])
            #expect(seen == ["open", "'zoom in'|[0,1,255]|''|[]|65536", "''|'zoom in'|65536|[0,1,255]|[]"])
        }
    }

    /// Waits up to a minute until another program has created a file.
    private static func appears(_ path: String) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !FileManager.default.fileExists(atPath: path) {
            try #require(ContinuousClock.now < end, "\(path) did not appear")
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test("A track follows its source: off before, live, off after a pause, and reported in that order")
    func follows() async throws {
        try await ViewerRun.with { run in
            var states = run.broadcast.states.makeAsyncIterator()
            #expect(await states.next()?.shown == .live)
            run.capturer.setEnabled(false)
            #expect(await states.next()?.shown == .disabled)
            run.capturer.setEnabled(true)
            #expect(await states.next()?.shown == .live)
            run.capturer.pause()
            #expect(await states.next()?.shown == .off)
            run.capturer.resume()
            #expect(await states.next()?.shown == .live)
        }
    }
}
#endif
