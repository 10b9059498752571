import NIOCore
import Testing

@testable import InletWebSocket

@Suite struct WebSocketLivenessTests {
    /// A tick, or something that the server sends.
    private enum Event {
        case tick(Int64)
        case pausedTick(Int64)
        case heard(Int64)
    }

    /// Returns for each tick whether the server counts as gone, with a ping every 15 s and a limit of 30 s.
    private static func ticks(_ events: [Event]) -> [Bool] {
        func time(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(1) + .seconds(seconds) }
        var liveness = WebSocketLiveness(interval: .seconds(15), limit: .seconds(30), now: time(0))
        return events.compactMap { event in
            switch event {
            case .tick(let seconds): return liveness.isGone(at: time(seconds), isPaused: false)
            case .pausedTick(let seconds): return liveness.isGone(at: time(seconds), isPaused: true)
            case .heard(let seconds):
                liveness.noteHeard(at: time(seconds))
                return nil
            }
        }
    }

    @Test("A server that is silent for the limit counts as gone, and one that sends something before does not")
    func silence() {
        #expect(Self.ticks([.tick(15), .tick(30)]) == [false, true])
        #expect(Self.ticks([.tick(15), .heard(16), .tick(30), .tick(45), .tick(60)]) == [false, false, false, true])
    }

    @Test("The time while reading is paused does not count")
    func pause() {
        let paused = (1...10).map { Event.pausedTick($0 * 15) }
        #expect(Self.ticks(paused + [.tick(165), .tick(180)]) == [Bool](repeating: false, count: 11) + [true])
    }

    @Test("The time in which this process stood still does not count")
    func standstill() {
        // The tick for 30 is an hour late.
        #expect(Self.ticks([.tick(15), .heard(16), .tick(3630), .tick(3645)]) == [false, false, false])
        #expect(Self.ticks([.tick(15), .heard(16), .tick(3630), .tick(3645), .tick(3660)]).last == true)
    }
}
