import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// Damage that the network causes.
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct NetworkDamageTests {
        @Test(
            "No damaged picture is shown, and every withheld picture is counted",
            arguments: [RTSPServer.Codec.h264, .h265],
            [.loss(percent: 1), .loss(percent: 5), .loss(percent: 20), .duplicate(percent: 10), .reorder(percent: 10)]
                as [FaultProxy.Fault])
        func udp(codec: RTSPServer.Codec, fault: FaultProxy.Fault) async throws {
            var options = RTSPServer.Options()
            options.codec = codec
            options.keyFrameInterval = 10
            options.frameRate = Rational(60)
            let server = try RTSPServer(options)
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp, seed: 5, faults: [fault])
            let dropped = UDPCounters.dropped
            let run = try NetworkRun("\(proxy.url(server.url))?transport=udp")
            _ = try await run.play { run in
                try await run.until("300 frames sent") { run in
                    let drops = run.capturer.statistics.drops.values.reduce(0, +)
                    return UInt64(run.log.readings.count) + drops > 300
                }
            }
            expectWhole(run.log.readings)
            let statistics = run.capturer.statistics
            let shown = "\(fault): \(run.log.readings.count) frames, \(statistics.drops)"
            if fault.kind == "loss" { #expect(statistics.drops[.damaged, default: 0] > 0, "\(shown)") }
            // A duplicate packet has no effect. The kernel may lose packets as well.
            if fault.kind == "duplicate", UDPCounters.dropped == dropped {
                #expect(statistics.drops[.damaged] == nil, "\(shown)")
            }
            if fault.kind == "duplicate" { #expect(run.log.readings.count > 250, "\(shown)") }
        }

        @Test("A stream without key frames is joined at a recovery point, once the picture is complete")
        func refresh() async throws {
            var options = RTSPServer.Options()
            options.isRefreshing = true
            let server = try RTSPServer(options)
            let early = try NetworkRun(server.url)
            let late = try NetworkRun(server.url, frames: 60)
            _ = try await early.play { early in
                try await early.frames(beyond: 20)
                #expect(try await late.play().get() == .frameLimit)
            }
            expectWhole(early.log.readings)
            expectWhole(late.log.readings)
            // The viewer has joined in the middle.
            #expect(late.log.readings.first?.flags.contains(.key) == false)
        }

        @Test("A stream joined after its only key frame ends in an error that states so")
        func withoutKeyFrames() async throws {
            var options = RTSPServer.Options()
            options.keyFrameInterval = 100_000
            let server = try RTSPServer(options)
            let early = try NetworkRun(server.url)
            let late = try NetworkRun(server.url, frames: 1)
            // The stream's only key frame may have been sent before a viewer could receive it.
            _ = try await early.play { early in
                try await early.until("20 frames sent") { _ in
                    ((try? server.report())?["frames"]?.int ?? 0) > 20
                }
                let error = await #expect(throws: InletError.self) { try await late.play().get() }
                #expect(
                    error?.code == .timedOut && error?.message.contains("no key frame") == true,
                    "\(error.map { "\($0)" } ?? "")")
            }
        }

        @Test(
            "A stream joined after its only key frame is shown as damaged if that was asked for",
            arguments: [RTSPServer.Codec.h264, .h265])
        func automatic(_ codec: RTSPServer.Codec) async throws {
            var options = RTSPServer.Options()
            options.codec = codec
            options.keyFrameInterval = 100_000
            let server = try RTSPServer(options)
            let early = try NetworkRun(server.url)
            let late = try NetworkRun(server.url + "?damage=automatic", frames: 20)
            _ = try await early.play { early in
                try await early.until("20 frames sent") { _ in
                    ((try? server.report())?["frames"]?.int ?? 0) > 20
                }
                #expect(try await late.play().get() == .frameLimit)
            }
            #expect(late.log.readings.count == 20)
            #expect(late.log.readings.allSatisfy { $0.flags.contains(.corrupt) && !$0.flags.contains(.key) })
        }

        @Test("Few pictures damaged by flipped bits in a TCP stream are shown, although H.264 has no checksums")
        func corruption() async throws {
            var options = RTSPServer.Options()
            options.keyFrameInterval = 10
            options.frameRate = Rational(60)
            let server = try RTSPServer(options)
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp, seed: 5, faults: [.corrupt(percent: 4)])
            let run = try NetworkRun(proxy.url(server.url), retry: NetworkRun.quickRetry)
            func flipped() throws -> Int { try proxy.report()["corrupt"]?.int ?? 0 }
            _ = try await run.play { run in
                try await run.until("40 flipped bits") { _ in ((try? flipped()) ?? 0) >= 40 }
            }
            let keptBack = Int(run.capturer.statistics.drops[.damaged, default: 0])
            // A flipped bit that the decoder does not notice is visible until the next key frame, so the test counts
            // how often that happens.
            let shown = run.log.readings.split { $0.number != nil }.count
            let flips = try flipped()
            let broken = run.log.readings.count { $0.number == nil }
            #expect(broken * 5 < keptBack, "\(broken) shown, \(keptBack) kept back")
            #expect(keptBack > 0 && shown * 5 < flips, "\(shown) of \(flips) shown, \(keptBack) pictures kept back")
        }

        @Test(
            "Damaged pictures are marked, or shown unmarked, if so configured", arguments: ["mark", "show"])
        func policy(_ policy: String) async throws {
            var options = RTSPServer.Options()
            options.keyFrameInterval = 30
            let server = try RTSPServer(options)
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp, seed: 5, faults: [.loss(percent: 5)])
            let run = try NetworkRun("\(proxy.url(server.url))?transport=udp&damage=\(policy)", frames: 200)
            #expect(try await run.play().get() == .frameLimit)
            let marked = run.log.readings.count { $0.flags.contains(.corrupt) }
            #expect(policy == "mark" ? marked > 0 : marked == 0)
        }
    }
}
