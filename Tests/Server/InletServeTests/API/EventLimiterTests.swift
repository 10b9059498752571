import InletCore
import InletTesting
import Testing

@testable import InletServe

/// Events of a device that sends far too many.
@Suite struct EventLimiterTests {
    @Test("A device that floods events blocks no other, and its latest state arrives")
    func flood() async {
        let clock = ManualClock()
        let limiter = EventLimiter(clock: clock)
        let (passed, continuation) = AsyncStream.makeStream(of: String.self)
        var texts = passed.makeAsyncIterator()
        func send(_ text: String, _ camera: String, _ kind: String = "motion") {
            limiter.pass(CameraSetEvent(kind, text, camera: camera)) { event in
                continuation.yield("\(event.camera ?? ""): \(event.text)")
            }
        }
        for number in 1...1700 { send("\(number)", "loud") }
        for number in 1...EventLimiter.burst { #expect(await texts.next() == "loud: \(number)") }
        send("begins", "quiet")
        #expect(await texts.next() == "quiet: begins")
        send("on", "loud", "state")
        #expect(await texts.next() == "loud: on")
        #expect(await clock.timer(onQueue: "inlet.sleep") == EventLimiter.interval)
        await clock.run(for: EventLimiter.interval)
        #expect(await texts.next() == "loud: 1700 (Events omitted before it: 1689.)")
        // One more each second, and a burst after a quiet time.
        send("late", "loud")
        await clock.timer(onQueue: "inlet.sleep")
        send("latest", "loud")
        await clock.run(for: EventLimiter.interval)
        #expect(await texts.next() == "loud: latest (Events omitted before it: 1.)")
        clock.advance(by: EventLimiter.interval * EventLimiter.burst)
        for number in 1...EventLimiter.burst {
            send("again \(number)", "loud")
            #expect(await texts.next() == "loud: again \(number)")
        }
    }
}
