#if GStreamer
import Foundation
import Inlet
import ReferenceTools
import Testing

/// Calls between a process and Chromium at the page of `inlet signal`, in a real room.
@Suite(.tags(.chromium), .serialized, .enabled(if: CameraBrowser.missing == nil, "\(CameraBrowser.missing ?? "")"))
struct CallPageTests {
    /// The event stream ended before the call.
    private struct NoEnd: Error {}

    /// The side in this process: a pattern that is sent, and a log of received events.
    private struct Side {
        let service: WebSocketSignaling
        let calls: CallController
        let events: AsyncStream<CallEvent>
        let log = TimecodeSink.Log()
        let source: Capturer
        let running: Task<Void, any Error>

        init(_ name: String, _ room: String, _ policy: CallPolicy = CallPolicy()) throws {
            let publisher = PeerPublisher { FFmpegVideoEncoder() }
            let source = Capturer(
                try PluginRegistry.standard.source("pattern:timecode?size=640x480&fps=30"))
            source.attach(PeerSinkConfiguration(publisher))
            self.source = source
            running = Task { _ = try await source.run() }
            service = try WebSocketSignaling(WebSocketSignalingConfiguration(room, id: PeerID(name)))
            let media = PeerCallMedia(publisher) { [log] _, capturer in
                capturer.attach(TimecodeSink(log), named: "timecode")
            }
            calls = try CallController(service, policy: policy, media: media)
            events = calls.events()
        }

        /// Acts on each state of the next call until the call is over.
        func follow(_ act: (Call) async throws -> Void) async throws -> Call {
            for await case .changed(let call) in events {
                try await act(call)
                if case .ended = call.state { return call }
            }
            throw NoEnd()
        }

        func leave() async {
            await calls.close()
            await service.close()
            source.stop()
            _ = try? await running.value
        }
    }

    private func key(_ name: String) -> String {
        "document.dispatchEvent(new KeyboardEvent('keydown', { key: '\(name)', bubbles: true }))"
    }

    /// Compares the page's last report with this side's.
    private func expectSameStory(_ browser: CameraBrowser, _ call: Call, _ number: Int) async throws {
        try await Waiting.until("the page's report \(number)", progress: { 0 }) {
            try browser.evaluate("return window.reports.length").int == number
        }
        let report = try browser.evaluate("return window.reports.at(-1)")
        guard case .ended(let end) = call.state else {
            Issue.record("not over: \(call)")
            return
        }
        #expect(report["call"]?.text == "\(call.id)")
        #expect(report["ended"]?["by"]?.text == "\(end.by)", "\(report.text), \(end)")
        #expect(report["ended"]?["why"]?.text == end.reason.key, "\(report.text), \(end)")
        #expect(report["ended"]?["detail"]?.text == end.reason.detail, "\(report.text), \(end)")
    }

    private static let waiting =
        "return document.getElementById('second').hidden ? '' : document.getElementById('caller').textContent"
    private static let states = "return document.getElementById('state').textContent"

    @Test("A browser rings, answers, declines, is busy and misses; pictures go both ways; both report the same")
    func browser() async throws {
        let port = try FreePort.find()
        var place = RoomServer.Configuration()
        place.port = port
        let server = try RoomServer(place)
        let room = "ws://127.0.0.1:\(port)/lobby"
        let (ben, cleo) = (try Side("ben", room), try Side("cleo", room))
        let browser = try CameraBrowser()
        defer { browser.stop() }
        try browser.open("http://127.0.0.1:\(port)/lobby?id=anna")
        let anna = try PeerID("anna")
        try await Waiting.until("the page in the room", progress: { 0 }) {
            try browser.evaluate(Self.states).text == "ready"
        }
        // Presence and track state are sent both ways.
        let members = Room(ben.service)
        let news = members.events()
        await members.publish([RoomTrack(name: "door", isOn: true), RoomTrack(name: "garden", isOn: false)])
        try await Waiting.until("the track of ben in the page", progress: { 0 }) {
            try browser.evaluate("return document.getElementById('people').textContent").text
                == "Call ben (door on)Call cleo"
        }

        // The browser calls, and hangs up when both see pictures.
        _ = try browser.evaluate(
            "document.getElementById('peer').value = 'ben'; document.getElementById('place').click()")
        var call = try await ben.follow { call in
            if call.state == .ringing { await ben.calls.answer(call.id) }
            guard call.state == .connected else { return }
            try await Waiting.until("numbers", progress: { ben.log.numbers.count }) { ben.log.numbers.count > 30 }
            try await Waiting.until("pictures in the page", progress: { 0 }) {
                try browser.evaluate(
                    "const video = document.getElementById('theirs');"
                        + "return video.videoWidth === 640 ? video.getVideoPlaybackQuality().totalVideoFrames : 0"
                ).int ?? 0 > 30
            }
            #expect(try browser.evaluate(Self.states).text == "connected")
            _ = try browser.evaluate(key("h"))
        }
        #expect(call.state == .ended(CallEnd(by: anna, .hungUp)))
        try await expectSameStory(browser, call, 1)
        var told: [Bool] = []
        for await case .tracks(anna, let tracks) in news {
            told += tracks.map(\.isOn)
            #expect(tracks.map(\.name) == ["camera"])
            if told.suffix(2) == [true, false] { break }
        }
        #expect(told.count <= 3, "off, on, off")
        await members.close()
        #expect(ben.log.cameraMistakes == [])

        // The browser is called and declines.
        await ben.calls.place(anna)
        call = try await ben.follow { if $0.state == .ringing { _ = try browser.evaluate(key("d")) } }
        #expect(call.state == .ended(CallEnd(by: anna, .declined(nil))))
        try await expectSameStory(browser, call, 2)

        // The browser answers by the key. A second call waits and is declined, while the first continues. Another
        // call waits until its caller gives up, and a third is answered with busy. One more call replaces the
        // first.
        await ben.calls.place(anna)
        let dan = try Side("dan", room)
        call = try await ben.follow { call in
            if call.state == .ringing { _ = try browser.evaluate(key("a")) }
            guard call.state == .connected else { return }
            await cleo.calls.place(anna)
            var second = try await cleo.follow { second in
                guard second.state == .ringing else { return }
                #expect(try browser.evaluate(Self.waiting).text == "cleo is also calling.")
                _ = try browser.evaluate(key("r"))
            }
            #expect(second.state == .ended(CallEnd(by: anna, .declined(nil))))
            try await expectSameStory(browser, second, 3)
            #expect(try browser.evaluate(Self.waiting).text == "")
            await cleo.calls.place(anna)
            second = try await cleo.follow { second in
                guard second.state == .ringing else { return }
                await dan.calls.place(anna)
                let third = try await dan.follow { _ in }
                #expect(third.state == .ended(CallEnd(by: anna, .busy(retryAfter: nil))))
                await cleo.calls.hangUp(second.id)
            }
            #expect(second.state == .ended(CallEnd(by: cleo.calls.localID, .cancelled)))
            try await expectSameStory(browser, second, 4)
            #expect(try browser.evaluate(Self.states).text == "connected")
            await cleo.calls.place(anna)
            for await case .changed(let again) in cleo.events where again.state == .ringing {
                _ = try browser.evaluate("document.getElementById('change').click()")
                break
            }
        }
        #expect(call.state == .ended(CallEnd(by: anna, .hungUp)))
        try await expectSameStory(browser, call, 5)
        call = try await cleo.follow { call in
            if call.state == .connected { await cleo.calls.hangUp(call.id) }
        }
        #expect(call.state == .ended(CallEnd(by: cleo.calls.localID, .hungUp)))
        try await expectSameStory(browser, call, 6)
        await dan.leave()

        // The called name is not there.
        await cleo.leave()
        var short = CallPolicy()
        short.ringing = .seconds(1)
        let dora = try Side("dora", room, short)
        await dora.calls.place(anna)
        call = try await dora.follow { _ in }
        #expect(call.state == .ended(CallEnd(by: anna, .missed)))
        try await expectSameStory(browser, call, 7)

        // The browser cancels its own call.
        _ = try browser.evaluate(
            "document.getElementById('peer').value = 'dora'; document.getElementById('place').click()")
        call = try await dora.follow { if $0.state == .ringing { _ = try browser.evaluate(key("Escape")) } }
        #expect(call.state == .ended(CallEnd(by: anna, .cancelled)))
        try await expectSameStory(browser, call, 8)
        let width = try browser.evaluate("return document.documentElement.scrollWidth").int ?? 0
        #expect(width <= 500, "the page is wider than the window: \(width)")
        // At the width of a small phone nothing is cut off, and every member of a long list can be reached by
        // scrolling.
        let footer = try browser.evaluate(
            """
            document.body.style.width = '320px';
            const width = document.querySelector('footer').getBoundingClientRect().width;
            document.body.style.width = '';
            return Math.round(width);
            """)
        #expect(footer.int == 320)
        let isReached = try browser.evaluate(
            """
            people = Array.from({ length: 64 }, (_, number) => `guest-${number}`); ready();
            const words = document.getElementById('words'), all = document.getElementById('people').children;
            words.scrollTop = 0;
            const isFirst = all[0].getBoundingClientRect().top >= words.getBoundingClientRect().top;
            words.scrollTop = words.scrollHeight;
            const last = all[63].getBoundingClientRect();
            return isFirst && last.bottom <= words.getBoundingClientRect().bottom;
            """)
        #expect(isReached == true)
        // A name that the server would reject is not sent, because the server would close the connection.
        let taken = try browser.evaluate(
            """
            const peer = document.getElementById('peer');
            return ['Anna Smith', 'änna', 'anna '].map(
              name => { peer.value = name; return peer.checkValidity(); });
            """)
        #expect(taken == .list([false, false, true]))
        await dora.leave()
        await ben.leave()
        server.stop()
    }
}
#endif
