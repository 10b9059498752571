import InletCore
import InletTesting
import Testing

@Suite struct KeyFrameThrottleTests {
    private let clock = ManualClock(waiting: .movesTime)

    @Test("The first request is granted at once, and none is granted without a request")
    func first() {
        var throttle = KeyFrameThrottle()
        #expect(!throttle.isDue(at: clock.now))
        throttle.request()
        #expect(throttle.isDue(at: clock.now))
    }

    @Test("Requests within the interval are granted once, at its end")
    func trailingEdge() {
        var throttle = KeyFrameThrottle(interval: .milliseconds(500))
        throttle.noteKeyFrame(at: clock.now)
        var granted: [Int] = []
        for picture in 1...40 {
            clock.advance(by: .milliseconds(50))
            if picture <= 5 { throttle.request() }
            if throttle.isDue(at: clock.now) {
                granted.append(picture)
                throttle.noteKeyFrame(at: clock.now)
            }
        }
        #expect(granted == [10])
    }

    @Test("A regular key frame answers the requests before it, and those after it wait again")
    func ownKeyFrame() {
        var throttle = KeyFrameThrottle(interval: .milliseconds(500))
        throttle.noteKeyFrame(at: clock.now)
        clock.advance(by: .milliseconds(100))
        throttle.request()
        clock.advance(by: .milliseconds(100))
        throttle.noteKeyFrame(at: clock.now)
        clock.advance(by: .milliseconds(499))
        #expect(!throttle.isDue(at: clock.now))
        throttle.request()
        #expect(!throttle.isDue(at: clock.now))
        clock.advance(by: .milliseconds(1))
        #expect(throttle.isDue(at: clock.now))
    }

    @Test("A request with a shorter interval is granted sooner, and others after it are not")
    func urgent() {
        var throttle = KeyFrameThrottle(interval: .milliseconds(500))
        throttle.noteKeyFrame(at: clock.now)
        throttle.request()
        throttle.request(after: .milliseconds(200))
        throttle.request()
        clock.advance(by: .milliseconds(199))
        #expect(!throttle.isDue(at: clock.now))
        clock.advance(by: .milliseconds(1))
        #expect(throttle.isDue(at: clock.now))
        throttle.noteKeyFrame(at: clock.now)
        throttle.request()
        clock.advance(by: .milliseconds(499))
        #expect(!throttle.isDue(at: clock.now))
    }
}
