#if GStreamer
import Inlet
import ReferenceTools
import Testing

/// Data channels of publishers at `whip:`, from aiortc and from Chromium.
@Suite(.tags(.chromium, .rtcPeer), .serialized, .timeLimit(.minutes(3)))
struct PublisherMessageTests {
    /// Runs an endpoint that returns each message, while `test` examines it.
    private static func run(
        _ configure: (inout WHIPSourceConfiguration) -> Void,
        _ test: @escaping (NetworkRun, PeerMessaging, String) async throws -> Void
    ) async throws {
        var configuration = WHIPSourceConfiguration(port: try FreePort.find())
        configure(&configuration)
        configuration.decoders = PluginRegistry.standard.decoders
        let messaging = configuration.messaging
        let messages = messaging.messages
        let echo = Task {
            for await message in messages {
                let delivery = message.channel == "lossy" ? DataDelivery.lossy : .ordered
                try? messaging.send(message.body, over: delivery, labelled: message.channel, to: message.peer)
            }
        }
        defer { echo.cancel() }
        let run = NetworkRun(configuration)
        _ = try await run.play { run in
            try await run.until("an interruption") {
                if case .interrupted = $0.capturer.state { true } else { false }
            }
            try await test(run, messaging, "http://127.0.0.1:\(configuration.port)/")
        }
        #expect(messaging.peer == nil)
    }

    private static func publisher(_ channels: [String]) throws -> TrackSender {
        try TrackSender(.publish, python: RemoteTrackTests.python, channels: channels)
    }

    /// Waits until a publisher's channels have reported this.
    private static func wait(_ publisher: TrackSender, for events: String...) async throws {
        try await Waiting.until("\(events)", progress: { try publisher.report().told }) {
            Set(events).isSubset(of: try publisher.report().told)
        }
    }

    @Test("A publisher's messages are exchanged within the limits, and its successor's can be distinguished")
    func messages() async throws {
        try await Self.run {
            ($0.channels.channels, $0.channels.messageBytes) = (2, 10_000)
        } _: { run, messaging, address in
            var events = messaging.events.makeAsyncIterator()
            let first = try Self.publisher(["orders", "lossy"])
            defer { first.stop() }
            #expect(try first.publish(to: address + "whip") == 201)
            try await Self.wait(first, for: "orders open", "lossy open")
            // Channels that are opened at once arrive in any order, because each is a separate SCTP stream.
            try first.open("third")
            try await Self.wait(first, for: "third close")
            try first.say("größer", over: "orders")
            try first.say(bytes: 10_000, over: "orders")
            try first.say(bytes: 100, over: "lossy")
            try await Self.wait(first, for: "orders größer", "orders 10000", "lossy 100")
            let peer = try #require(messaging.peer)
            try messaging.send(.text("look left"), labelled: "orders", to: peer)
            try await Self.wait(first, for: "orders look left")
            try await Waiting.until("the counts", progress: { messaging.counts }) {
                let counts = messaging.counts
                return counts.received == 3 && counts.sent == 4 && counts.dropped == 0
            }
            // The answer states the maximum length. A longer message ends its channel, and the other channel
            // continues.
            #expect(throws: (any Error).self) { try first.say(bytes: 10_001, over: "orders") }
            try first.say(bytes: 10_001, over: "orders", isForced: true)
            try await Self.wait(first, for: "orders close")
            try first.say("still here", over: "lossy")
            try await Self.wait(first, for: "lossy still here")
            var opened: Set<String> = []
            told: while let event = await events.next() {
                #expect(event.peer == peer)
                switch event.event {
                case .channelOpened(let channel): opened.insert(channel.label)
                case .channelClosed(let channel):
                    #expect(channel == DataChannelParameters("orders"))
                    break told
                default: break
                }
            }
            #expect(opened == ["orders", "lossy"])
            try await run.frames(beyond: 15)
            expectWhole(run.log.readings)

            let second = try Self.publisher(["orders"])
            defer { second.stop() }
            #expect(try second.publish(to: address + "whip") == 201)
            try await Self.wait(second, for: "orders open")
            let error = #expect(throws: InletError.self) { try messaging.send(.text("you"), to: peer) }
            #expect(error?.code == .notFound)
            try second.say("hello", over: "orders")
            try await Self.wait(second, for: "orders hello")
        }
    }

    @Test(
        "Channels that the endpoint or this publisher's permissions forbid are closed; the picture arrives",
        arguments: [true, false])
    func off(isByAdmission: Bool) async throws {
        try await Self.run {
            guard isByAdmission else { return }
            $0.channels.channels = 4
            $0.admission = Admission { _ in .accept(.viewOnly) }
        } _: { run, messaging, address in
            let publisher = try Self.publisher(["orders", "lossy"])
            defer { publisher.stop() }
            #expect(try publisher.publish(to: address + "whip") == 201)
            try await Self.wait(publisher, for: "orders close", "lossy close")
            try messaging.send(.text("this has no receiver"))
            try await run.until("a dropped message") { _ in messaging.counts.dropped == 1 }
            try await run.frames(beyond: 15)
            expectWhole(run.log.readings)
            #expect(messaging.counts.received == 0)
        }
    }

    @Test(
        "Chromium exchanges messages next to its picture",
        .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
    func browser() async throws {
        try await Self.run {
            $0.channels.channels = 2
        } _: { run, messaging, address in
            let browser = try CameraBrowser()
            defer { browser.stop() }
            try browser.open(address)
            _ = try browser.evaluate(Self.script)
            try await Waiting.until("an echo", progress: { try browser.evaluate("return window.told.join()") }) {
                try browser.evaluate("return window.told.length").int == 2
            }
            let told = try browser.evaluate("return window.told.join()").text
            #expect(told == "größer,3")
            try messaging.send(.text("look left"), labelled: "orders")
            try await Waiting.until("a text", progress: { try browser.evaluate("return window.told.join()") }) {
                try browser.evaluate("return window.told.join()").text == "größer,3,look left"
            }
            try await run.frames(beyond: 10)
        }
    }

    /// Publishes a canvas, with a data channel for a text and three bytes.
    private static let script = """
        window.told = [];
        (async () => {
            const canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [320, 240];
            const paint = canvas.getContext("2d");
            let count = 0;
            setInterval(() => {
                paint.fillStyle = `hsl(${count++ % 360} 50% 50%)`;
                paint.fillRect(0, 0, 320, 240);
            }, 33);
            const peer = window.peer = new RTCPeerConnection();
            const channel = peer.createDataChannel("orders");
            channel.binaryType = "arraybuffer";
            channel.onmessage = event => told.push(event.data.byteLength ?? event.data);
            channel.onopen = () => { channel.send("größer"); channel.send(new Uint8Array([1, 2, 3])) };
            peer.addTransceiver(canvas.captureStream(30).getVideoTracks()[0], {direction: "sendonly"});
            await peer.setLocalDescription();
            while (peer.iceGatheringState !== "complete") await new Promise(done => setTimeout(done, 20));
            const answer = await fetch("/whip", {
                method: "POST", headers: {"content-type": "application/sdp"}, body: peer.localDescription.sdp});
            await peer.setRemoteDescription({type: "answer", sdp: await answer.text()});
        })().catch(error => told.push(String(error)));
        """
}
#endif
