import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// What the network spoils.
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct NetworkDamageTests {
        @Test(
            "No damaged picture is shown, and all that are kept back are counted",
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
            let run = try NetworkRun("\(proxy.url(server.url))?transport=udp")
            _ = try await run.play { run in
                try await run.until("150 frames sent") { run in
                    let drops = run.capturer.statistics.drops.values.reduce(0, +)
                    return UInt64(run.log.readings.count) + drops > 150
                }
            }
            // libavformat 5.1 lets a doubled first fragment of an H.265 picture pass as a picture, and its decoder sees nothing amiss.
            withKnownIssue(isIntermittent: true) {
                expectWhole(run.log.readings)
            } when: {
                codec == .h265 && fault.kind == "duplicate"
            }
            let statistics = run.capturer.statistics
            let shown = "\(fault): \(run.log.readings.count) frames, \(statistics.drops)"
            if fault.kind == "loss" { #expect(statistics.drops[.damaged, default: 0] > 0, "\(shown)") }
            if fault.kind == "duplicate" && codec == .h264 { #expect(run.log.readings.count > 30, "\(shown)") }
        }

        @Test("Flipped bits in a TCP stream show no broken picture")
        func corruption() async throws {
            var options = RTSPServer.Options()
            options.keyFrameInterval = 10
            let server = try RTSPServer(options)
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp, seed: 5, faults: [.corrupt(percent: 2)])
            let run = try NetworkRun(proxy.url(server.url), retry: NetworkRun.quickRetry)
            _ = try await run.play { run in
                try await run.until("200 frames sent") { run in
                    UInt64(run.log.readings.count) + run.capturer.statistics.drops.values.reduce(0, +) > 200
                }
            }
            #expect(run.capturer.statistics.drops[.damaged, default: 0] > 0)
            // H.264 has no check digits, so its decoder takes some flipped bits for a picture.
            withKnownIssue(isIntermittent: true) { #expect(run.log.readings.allSatisfy { $0.number != nil }) }
        }

        @Test(
            "Damaged pictures are marked, or shown like others, where that is asked for", arguments: ["mark", "show"])
        func policy(_ policy: String) async throws {
            var options = RTSPServer.Options()
            options.keyFrameInterval = 30
            let server = try RTSPServer(options)
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp, seed: 5, faults: [.loss(percent: 5)])
            let run = try NetworkRun("\(proxy.url(server.url))?transport=udp&damaged=\(policy)", frames: 200)
            #expect(try await run.play().get() == .frameLimit)
            let marked = run.log.readings.count { $0.flags.contains(.corrupt) }
            #expect(policy == "mark" ? marked > 0 : marked == 0)
        }
    }
}
