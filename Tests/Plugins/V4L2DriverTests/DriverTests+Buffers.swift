import Foundation
import InletCapture
import InletCore
import InletV4L2
import Logging
import ReferenceTools
import Synchronization
import Testing
import V4L2Source

extension DriverTests {
    @Suite struct Buffers {
        /// A moving picture, so that an overwritten one shows.
        private func move() throws { try Vivid.first.control("-c", "horizontal_movement=6,osd_text_mode=0") }

        @Test("However many frames a sink holds, the driver continues and no held picture changes", arguments: 1...8)
        func held(count: Int) throws {
            try move()
            let camera = try TestCamera(.vivid())
            var held: [(frame: SourceFrame, sum: UInt64)] = []
            for _ in 0..<3 * count + 12 {
                let frame = try camera.next()
                held.append((frame, Checksum.of(frame)))
                if held.count > count {
                    let released = held.removeFirst()
                    #expect(
                        Checksum.of(released.frame) == released.sum,
                        "picture \(released.frame.sequence) of \(count) held")
                }
            }
            // All at once, after the device is gone.
            camera.close()
            for (frame, sum) in held { #expect(Checksum.of(frame) == sum) }
            #expect(Set(held.map(\.sum)).count == held.count, "the pictures do not move")
        }

        @Test("Without memory for copies frames are dropped and counted, and return when the sink releases some")
        func noCopies() throws {
            var configuration = V4L2Configuration.vivid()
            configuration.copies = 0
            let camera = try TestCamera(configuration)
            var held: [SourceFrame] = []
            for _ in 0..<4 { held.append(try camera.next()) }
            #expect(throws: InletError.self) {
                while true { held.append(try camera.next(patience: .milliseconds(500))) }
            }
            #expect((camera.context.dropCounts[.poolExhausted] ?? 0) > 0)
            held = []
            _ = try camera.next()
        }

        @Test("A frame is the driver's own memory as long as the driver has buffers to fill")
        func zeroCopy() throws {
            let camera = try TestCamera(.vivid())
            var addresses: Set<UInt> = []
            for _ in 0..<20 {
                let frame = try camera.next()
                let address = unsafe frame.planes[0]?.topRow.map { UInt(bitPattern: $0) }
                addresses.insert(try #require(address))
            }
            #expect(addresses.count <= 6)
            let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            let ranges = maps.split(separator: "\n").filter { $0.contains("/dev/video") }.compactMap {
                line -> ClosedRange<UInt>? in
                let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
                return ends.count == 2 ? ends[0]...ends[1] : nil
            }
            #expect(addresses.allSatisfy { address in ranges.contains { $0.contains(address) } })
        }

        @Test("A device can be used by another program as soon as it is closed, though frames of it are held")
        func heldAfterClose() throws {
            let first = try TestCamera(.vivid())
            let frame = try first.next()
            let sum = Checksum.of(frame)
            first.close()
            let second = try TestCamera(.vivid(format: "YUYV"))
            for _ in 0..<5 { _ = try second.next() }
            #expect(Checksum.of(frame) == sum)
        }

        @Test(
            "Drivers without mapped buffers fill ours, and those that can only be read are read",
            arguments: [V4L2Configuration.InputMethod.mapped, .own, .read])
        func methods(method: V4L2Configuration.InputMethod) throws {
            try Vivid.first.control("-c", "horizontal_movement=3,osd_text_mode=2")
            defer { _ = try? Vivid.first.control("-c", "osd_text_mode=0") }
            let picture = PictureFile.packed(try TestCamera(.vivid()).next())
            let expected = try #require(picture)
            var configuration = V4L2Configuration.vivid()
            configuration.method = method
            let camera = try TestCamera(configuration)
            for _ in 0..<12 {
                let frame = try camera.next()
                #expect(frame.pts == nil || method != .read)
                #expect(PictureFile.packed(frame)?.isSame(as: expected) == true)
            }
        }

        @Test("A camera stops in a pause and continues")
        func pause() throws {
            let camera = try TestCamera(.vivid())
            let before = try camera.next()
            #expect(try camera.pause())
            try camera.resume()
            let after = try camera.next()
            #expect(after.sequence > before.sequence)
            #expect(after.sequence < 200)
        }

        @Test("A camera runs as slowly as its sinks permit, and as fast as it can when one wants all frames")
        func demand() throws {
            func rate() throws -> String? {
                try Vivid.first.control("--get-parm").firstMatch(of: /Frames per second: (\d+)/).map {
                    String($0.output.1)
                }
            }
            var configuration = V4L2Configuration.vivid()
            configuration.frameRate = nil
            let seven = SourceDemand(maximumFrameRate: Rational(7))
            let camera = try TestCamera(configuration, demand: seven)
            #expect(camera.format.frameRate == Rational(60))
            var last = try camera.next()
            #expect(try rate() == "10")
            func goOn(until wanted: String) throws {
                var left = 600
                while left > 0, try rate() != wanted {
                    left -= 1
                    let frame = try camera.next()
                    #expect(frame.sequence > last.sequence)
                    if let time = frame.captureTime, let before = last.captureTime { #expect(time > before) }
                    last = frame
                }
                #expect(try rate() == wanted)
            }
            camera.context.setDemand(.everything)
            try goOn(until: "60")
            camera.context.setDemand(seven)
            try goOn(until: "10")
            camera.close()

            // A sink that names a rate gets it.
            let fixed = try TestCamera(.vivid(), demand: seven)
            _ = try fixed.next()
            #expect(try rate() == "60")
        }

        @Test("Two cameras stream at once")
        func two() throws {
            let cameras = [try TestCamera(.vivid()), try TestCamera(.vivid(.second, format: "NM12"))]
            for _ in 0..<10 { for camera in cameras { _ = try camera.next() } }
        }

        @Test(
            "Unplugged ten times while it streams, the camera is found again at any node, and nothing is left open"
        )
        func replug() async throws {
            let log = ReplugLog()
            var configuration = CapturerConfiguration()
            configuration.logger = Logger(label: "replug") { _ in SwiftLogNoOpLogHandler() }
            configuration.retry.firstDelay = .milliseconds(20)
            configuration.retry.maximumDelay = .milliseconds(200)
            let capturer = Capturer(V4L2Configuration.vivid(), configuration: configuration)
            capturer.attach(log.sink)
            let before = try Self.openThings()
            var nodes: Set<String> = []
            var holders: [FileHandle] = []
            async let run = capturer.run()
            await log.frames(atLeast: 5)
            for round in 0..<10 {
                nodes.insert(try Vivid.first.node)
                // A node that is kept open is not assigned again.
                if round.isMultiple(of: 2), let handle = FileHandle(forReadingAtPath: try Vivid.first.node) {
                    holders.append(handle)
                }
                try Vivid.replug()
                if round.isMultiple(of: 3) { holders = [] }
                await log.frames(atLeast: log.count + 5)
            }
            capturer.stop()
            #expect(try await run == .cancelled)
            holders = []
            #expect(nodes.count > 1, "the nodes did not change: \(nodes)")
            #expect(capturer.statistics.supervision.recoveries == 10)
            #expect(log.isStrictlyIncreasing)
            #expect(try Self.openThings() == before)
        }

        /// Descriptors and mappings of video devices.
        private static func openThings() throws -> Int {
            let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            let mapped = maps.split(separator: "\n").count { $0.contains("/dev/video") }
            let folder = "/proc/self/fd"
            let open = try FileManager.default.contentsOfDirectory(atPath: folder).count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)"))?.contains("video")
                    == true
            }
            return mapped + open
        }
    }
}

/// Counts frames and checks their times.
final class ReplugLog: Sendable {
    private struct State {
        var count = 0
        var last: MonotonicTime?
        var isStrictlyIncreasing = true
        var waiters: [(Int, CheckedContinuation<Void, Never>)] = []
    }
    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }
    var isStrictlyIncreasing: Bool { state.withLock { $0.isStrictlyIncreasing } }

    func note(_ frame: VideoFrame) {
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.count += 1
            if let last = state.last, frame.timestamp <= last { state.isStrictlyIncreasing = false }
            state.last = frame.timestamp
            let ready = state.waiters.filter { $0.0 <= state.count }.map(\.1)
            state.waiters.removeAll { $0.0 <= state.count }
            return ready
        }
        for waiter in ready { waiter.resume() }
    }

    func frames(atLeast count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    var sink: any FrameSink { Sink(log: self) }

    private final class Sink: FrameSink {
        let log: ReplugLog
        init(log: ReplugLog) { self.log = log }
        func consume(_ frame: VideoFrame) throws { log.note(frame) }
    }
}
