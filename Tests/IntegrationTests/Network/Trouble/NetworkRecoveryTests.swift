import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// Failures of the server or the network in the middle of a stream.
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct NetworkRecoveryTests {
        // Runs by itself, because it counts the process's descriptors.
        @Test(
            "A server that is killed and restarted 50 times is found again 50 times, and nothing leaks",
            .fewAtATime, .alone)
        func restarts() async throws {
            var options = RTSPServer.Options()
            options.size = ImageSize(width: 320, height: 240)
            options.keyFrameInterval = 5
            var server = try RTSPServer(options)
            options.port = server.port
            let run = try NetworkRun(server.url, retry: NetworkRun.quickRetry)
            var warm: Usage?
            let outcome = try await run.play { run in
                try await run.frames(beyond: 0)
                for cycle in 0..<50 {
                    server.stop()
                    // The frames in flight arrive before the loss is noticed.
                    let before = run.capturer.statistics.supervision.openings
                    try await run.until("another opening") { $0.capturer.statistics.supervision.openings > before }
                    let count = run.log.readings.count
                    server = try RTSPServer(options)
                    try await run.frames(beyond: count + 2)
                    if cycle == 9 { warm = Usage.now }
                }
            }
            #expect(try outcome.get() == .cancelled)
            expectInOrder(run.log.readings)
            let recoveries = run.events.count { if case .recovered = $0 { true } else { false } }
            #expect(recoveries >= 50)
            let after = Usage.now
            let before = try #require(warm)
            #expect(after.descriptors <= before.descriptors + 8, "\(before) \(after)")
            #expect(after.threads <= before.threads + 8, "\(before) \(after)")
            #expect(after.memory - before.memory < 16 << 20, "\(before) \(after)")
        }

        @Test("After a connection reset the stream continues, and so does its timeline")
        func reset() async throws {
            let server = try RTSPServer.live()
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp)
            let run = try NetworkRun(proxy.url(server.url), retry: NetworkRun.quickRetry)
            _ = try await run.play { run in
                try await run.frames(beyond: 20)
                try proxy.add(.reset())
                try await run.until("a failure") { !$0.failures.isEmpty }
                try proxy.clear()
                let count = run.log.readings.count
                try await run.frames(beyond: count + 20)
            }
            #expect([.disconnected, .streamEnded].contains(run.failures.first?.code), "\(run.failures)")
            expectWhole(run.log.readings)
        }

        @Test("A stream that stops is reported as stalled, and reopened if it stays so")
        func stall() async throws {
            let server = try RTSPServer.live()
            let run = try NetworkRun("\(server.url)?read-timeout=2s", retry: NetworkRun.quickRetry)
            _ = try await run.play { run in
                try await run.frames(beyond: 20)
                try server.stopSending()
                try await run.until("a failure") { !$0.failures.isEmpty }
                try server.resumeSending()
                let count = run.log.readings.count
                try await run.frames(beyond: count + 5)
            }
            #expect(run.failures.first?.code == .timedOut)
            #expect(run.failures.first?.message.contains("read-timeout") == true)
            #expect(run.events.contains { if case .stateChanged(.stalled) = $0 { true } else { false } })
            expectWhole(run.log.readings)
        }

        @Test("A new size or codec after a reconnect is followed")
        func change() async throws {
            let server = try RTSPServer.live(.h264)
            let run = try NetworkRun(server.url, retry: NetworkRun.quickRetry)
            _ = try await run.play { run in
                try await run.frames(beyond: 5)
                try server.change(codec: .h265, size: ImageSize(width: 320, height: 240))
                try server.killConnections()
                try await run.until("a small picture") { $0.log.readings.contains { $0.size.width == 320 } }
                try server.change(codec: .mjpeg, size: ImageSize(width: 640, height: 360))
                try server.killConnections()
                try await run.until("another picture") { $0.log.readings.contains { $0.size.height == 360 } }
            }
            let codecs = run.events.compactMap { if case .opened(let format) = $0 { format.codec } else { nil } }
            #expect(codecs == ["h264", "hevc", "mjpeg"])
            expectInOrder(run.log.readings)
        }

        @Test("A server that forgets its sessions is opened again")
        func expiry() async throws {
            var options = RTSPServer.Options()
            options.sessionTimeout = 4
            let server = try RTSPServer(options)
            let run = try NetworkRun(server.url, retry: NetworkRun.quickRetry)
            _ = try await run.play { run in
                try await run.frames(beyond: 5)
                try server.expireSessions()
                try await run.until("a failure") { !$0.failures.isEmpty }
                let count = run.log.readings.count
                try await run.frames(beyond: count + 5)
            }
            expectWhole(run.log.readings)
        }

        @Test("A session with a time-out of four seconds is kept alive for ten")
        func keepAlive() async throws {
            var options = RTSPServer.Options()
            options.sessionTimeout = 4
            options.transport = .udp
            let server = try RTSPServer(options)
            let run = try NetworkRun("\(server.url)?transport=udp", frames: 300)
            #expect(try await run.play().get() == .frameLimit)
            #expect(run.failures.isEmpty)
            // By then, the server's reports have given its time of day, which is this machine's.
            let last = try #require(run.log.readings.last)
            let wallClock = try #require(last.wallClock)
            let drawn = try #require(last.drawn)
            let now = Int64(Date().timeIntervalSince1970 * 1e9)
            let expected = now - (SystemClock().now - drawn).wholeNanoseconds
            #expect(abs(wallClock - expected) < 500_000_000, "\(wallClock - expected) ns off")
        }

        @Test("Inlet waits for a sender that is killed", arguments: [FFmpegSender.Carrier.rtmp, .srt])
        func sender(_ carrier: FFmpegSender.Carrier) async throws {
            var options = FFmpegSender.Options(carrier)
            options.isRepeating = true
            let server = try FFmpegSender(options)
            let run = try NetworkRun(server.url, retry: NetworkRun.quickRetry)
            _ = try await run.play { run in
                try await run.frames(beyond: 5)
                try server.kill()
                try await run.until("a failure") { !$0.failures.isEmpty }
                let count = run.log.readings.count
                try await run.frames(beyond: count + 5)
            }
            let times = run.log.readings.map(\.timestamp)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        }

        /// A restarted server counts its pictures from zero, so the test checks only that they are readable and that
        /// the timeline is right.
        private func expectInOrder(_ readings: [TimecodeSink.Reading]) {
            #expect(readings.allSatisfy { $0.number != nil })
            let times = readings.map(\.timestamp)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        }

        /// The resources that this process uses.
        private struct Usage {
            var descriptors: Int
            var threads: Int
            var memory: Int

            static var now: Usage {
                func count(_ folder: String) -> Int {
                    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
                }
                let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
                return Usage(
                    descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"),
                    memory: (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096)
            }
        }
    }
}
