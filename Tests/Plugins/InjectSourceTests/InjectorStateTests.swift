import InletCore
import Testing

@testable import InjectSource

struct InjectorStateTests {
    private static let stream = PacketStream(
        CodecParameters(codec: .h264, size: ImageSize(width: 16, height: 16), timeBase: Rational(1, 1000)))

    private func picture(_ ticks: Int64?, flags: FrameFlags = []) throws -> SourceItem {
        let buffer = try I420Draft(size: ImageSize(width: 16, height: 16)).publish()
        let pts = ticks.map { MediaTime(ticks: $0, timeBase: Rational(1, 1000)) }
        return .frame(SourceFrame(buffer, pts: pts, sequence: 0, flags: flags))
    }

    private func packet(_ flags: PacketFlags = []) -> SourceItem {
        .packet(
            SourcePacket(parameters: Self.stream.parameters, data: PacketData([1]), pts: nil, dts: nil, flags: flags))
    }

    private func push(_ state: inout InjectorState, _ item: SourceItem, bytes: Int = 10, at time: Int64 = 0)
        -> InjectorOutcome
    {
        state.push(item, bytes: bytes, at: MonotonicTime(nanoseconds: time)).outcome
    }

    private func ticks(_ turn: InjectorState.Turn) -> Int64? {
        guard case .item(let item) = turn else { return nil }
        return item.frame?.pts?.ticks
    }

    @Test("Newest wins: an older picture is replaced, returned for release, and counted")
    func latest() throws {
        var state = InjectorState(InjectorConfiguration())
        #expect(push(&state, try picture(1)) == .queued)
        let second = state.push(try picture(2), bytes: 10, at: MonotonicTime(nanoseconds: 0))
        #expect(second.outcome == .queued)
        #expect(second.evicted?.frame?.pts?.ticks == 1)
        #expect(second.reason == .superseded)
        #expect(ticks(state.take()) == 2)
        #expect(ticks(state.take()) == nil)
        #expect(state.figures.dropped == [.superseded: 1])
    }

    @Test("A bounded queue drops the oldest or the newest", arguments: InjectorQueue.Dropped.allCases)
    func bounded(dropped: InjectorQueue.Dropped) throws {
        var state = InjectorState(InjectorConfiguration(queue: .bounded(2, dropping: dropped)))
        var outcomes: [InjectorOutcome] = []
        for number in 1...4 { outcomes.append(push(&state, try picture(Int64(number)))) }
        switch dropped {
        case .oldest:
            #expect(outcomes == [.queued, .queued, .queued, .queued])
            #expect([ticks(state.take()), ticks(state.take())] == [3, 4])
        case .newest:
            #expect(outcomes == [.queued, .queued, .dropped(.queueFull), .dropped(.queueFull)])
            #expect([ticks(state.take()), ticks(state.take())] == [1, 2])
        }
        #expect(state.figures.dropped == [.queueFull: 2])
        #expect(state.figures.queued == 0)
    }

    @Test("The bytes are bounded as well as the number")
    func bytes() throws {
        var configuration = InjectorConfiguration(queue: .bounded(100))
        configuration.maximumBytes = 100
        var state = InjectorState(configuration)
        for number in 1...10 {
            #expect(push(&state, try picture(Int64(number)), bytes: 40) == .queued)
            #expect(state.figures.queuedBytes <= 100)
        }
        #expect(push(&state, try picture(11), bytes: 100) == .queued)
        #expect(state.figures.queued == 1)
        #expect(state.figures.dropped == [.queueFull: 10])
    }

    @Test("A picture that is older than the last is dropped, unless its timeline restarts")
    func order() throws {
        var state = InjectorState(InjectorConfiguration(queue: .bounded(8)))
        #expect(push(&state, try picture(5)) == .queued)
        #expect(push(&state, try picture(4)) == .dropped(.outOfOrder))
        #expect(push(&state, try picture(nil)) == .queued)
        #expect(push(&state, try picture(1, flags: .discontinuity)) == .queued)
        #expect(push(&state, try picture(2)) == .queued)
    }

    @Test(
        "Evenly spaced pictures of a faster producer pass", arguments: [(60, 30), (30, 10), (25, 10), (30, 30)])
    func thinning(rates: (given: Int, wanted: Int)) throws {
        var state = InjectorState(InjectorConfiguration(queue: .bounded(1000)))
        state.adapt(maximumSize: nil, maximumFrameRate: Rational(rates.wanted))
        for number in 0..<10 * rates.given {
            _ = push(&state, try picture(Int64(number * 1000 / rates.given)))
        }
        var passed: [Int64] = []
        while let next = ticks(state.take()) { passed.append(next) }
        #expect(abs(passed.count - 10 * rates.wanted) <= 1)
        let interval = Int64(1000 / rates.wanted)
        let gaps = zip(passed.dropFirst(), passed).map { $0 - $1 }
        #expect(gaps.allSatisfy { abs($0 - interval) <= Int64(1000 / rates.given) })
        #expect(state.figures.dropped[.rateLimited, default: 0] + UInt64(passed.count) == UInt64(10 * rates.given))
    }

    @Test("Pictures without a PTS are thinned by the time of their push")
    func thinningByArrival() throws {
        var state = InjectorState(InjectorConfiguration(queue: .bounded(1000)))
        state.adapt(maximumSize: nil, maximumFrameRate: Rational(10))
        var queued = 0
        for number in 0..<100 where push(&state, try picture(nil), at: Int64(number) * 20_000_000) == .queued {
            queued += 1
        }
        #expect(queued == 20)
    }

    @Test("Packets without room are dropped up to a key frame, which is requested and marked as after a loss")
    func packets() throws {
        var state = InjectorState(InjectorConfiguration(packets: Self.stream, queue: .bounded(2)))
        #expect(push(&state, packet(.key)) == .queued)
        #expect(push(&state, packet()) == .queued)
        #expect(push(&state, packet()) == .dropped(.queueFull))
        #expect(state.keyFrameRequests == 1)
        _ = state.take()
        // There is room again, but this one needs the dropped ones.
        #expect(push(&state, packet()) == .dropped(.queueFull))
        #expect(push(&state, packet(.key)) == .queued)
        _ = state.take()
        guard case .item(let item) = state.take() else { throw Missing() }
        #expect(item.packet?.flags == [.key, .loss])
        #expect(push(&state, packet()) == .queued)
        #expect(state.keyFrameRequests == 1)
    }

    @Test("Queued pictures come before the end and before a failure, which is thrown once")
    func ends() throws {
        var state = InjectorState(InjectorConfiguration(queue: .bounded(8)))
        _ = push(&state, try picture(1))
        _ = state.fail(InletError(.disconnected, "gone"))
        _ = state.fail(InletError(.busy, "again"))
        #expect(ticks(state.take()) == 1)
        guard case .failed(let error) = state.take() else { throw Missing() }
        #expect(error.code == .disconnected)
        guard case .empty = state.take() else { throw Missing() }
        _ = push(&state, try picture(2))
        _ = state.end()
        #expect(push(&state, try picture(3)) == .dropped(.injectorEnded))
        #expect(ticks(state.take()) == 2)
        guard case .ended = state.take() else { throw Missing() }
    }

    @Test("A reader is woken once for each wait, and a mute overrides an interruption")
    func waking() throws {
        var state = InjectorState(InjectorConfiguration(queue: .bounded(8)))
        let now = MonotonicTime(nanoseconds: 0)
        let early = state.push(try picture(1), bytes: 1, at: now)
        #expect(!early.wakesReader)
        _ = state.take()
        guard case .empty(nil) = state.take() else { throw Missing() }
        let awaited = state.push(try picture(2), bytes: 1, at: now)
        let further = state.push(try picture(3), bytes: 1, at: now)
        #expect(awaited.wakesReader && !further.wakesReader)
        _ = state.take()
        _ = state.take()
        _ = state.setInterruption("no window")
        _ = state.setMuted("muted")
        guard case .empty("muted") = state.take() else { throw Missing() }
        #expect(push(&state, try picture(4)) == .dropped(.disabled))
        let wakes = state.setMuted(nil)
        #expect(wakes)
        guard case .empty("no window") = state.take() else { throw Missing() }
        #expect(push(&state, try picture(5)) == .queued)
        _ = state.take()
        guard case .empty(nil) = state.take() else { throw Missing() }
    }

    @Test("Whatever happens, each picture is delivered, dropped or queued", arguments: 0..<20 as Range<UInt64>)
    func accounts(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var configuration = InjectorConfiguration(
            queue: [.latest, .bounded(3), .bounded(3, dropping: .newest)][Int(random.next() % 3)])
        configuration.maximumBytes = 100
        var state = InjectorState(configuration)
        for step in 0..<500 {
            switch random.next() % 12 {
            case 0: _ = state.setMuted(random.next() % 2 == 0 ? "muted" : nil)
            case 1: state.setPaused(random.next() % 2 == 0)
            case 2: state.adapt(maximumSize: nil, maximumFrameRate: random.next() % 2 == 0 ? Rational(50) : nil)
            case 3...5: _ = state.take()
            default:
                let time = Int64(step) + Int64(random.next() % 5) - 2
                _ = push(&state, try picture(time), bytes: 1 + Int(random.next() % 100))
            }
            let figures = state.figures
            #expect(figures.pushed == figures.delivered + figures.dropped.values.reduce(0, +) + UInt64(figures.queued))
            #expect(figures.queuedBytes <= 100)
            #expect(figures.queued > 0 || figures.queuedBytes == 0)
        }
    }

    private struct Missing: Error {}
}
