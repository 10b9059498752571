import Foundation
import InletCapture
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import ScreenSource

/// Screens of sway, captured through xdg-desktop-portal and PipeWire. GStreamer shows pictures that Python draws.
///
/// With wlroots' backend, a session after the first receives its first picture only when the screen changes. This
/// can happen to any session, because PipeWire may lose a picture that is sent before both ends run. Therefore
/// something on the screen moves.
@Suite(.serialized, .tags(.display)) struct PortalPeerTests {
    /// The interruptions that a source has reported.
    private final class Reasons: Sendable {
        private let reasons = Mutex([String?]())
        func note(_ reason: String?) { reasons.withLock { $0.append(reason) } }
        var all: [String?] { reasons.withLock { $0 } }
    }

    private static func configuration(
        _ session: WaylandSession, _ change: (inout ScreenConfiguration) -> Void = { _ in }
    ) -> ScreenConfiguration {
        var configuration = ScreenConfiguration()
        configuration.origin = .portal
        configuration.bus = session.bus
        configuration.showsPointer = false
        change(&configuration)
        return configuration
    }

    private static func reader(
        _ session: WaylandSession, limit: Duration = .seconds(20),
        _ change: (inout ScreenConfiguration) -> Void = { _ in }
    ) throws -> ScreenReader {
        try ScreenReader(PortalSource(configuration(session, change)), limit: limit)
    }

    private static func failure(
        _ session: WaylandSession, limit: Duration = .seconds(20),
        _ change: (inout ScreenConfiguration) -> Void = { _ in }
    ) -> InletError? {
        #expect(throws: InletError.self) { _ = try reader(session, limit: limit, change) }
    }

    /// The mean of a frame's colour bytes.
    private static func mean(_ frame: SourceFrame) -> Double {
        guard let plane = frame.planes[0], plane.holds(rows: frame.size.height, of: frame.size.width * 4) else {
            return -1
        }
        var sum = 0
        for row in 0..<frame.size.height {
            let bytes = unsafe [UInt8](
                plane.bytesFromTop.dropFirst(row * plane.stride).prefix(frame.size.width * 4))
            sum += bytes.indices.reduce(0) { $1 % 4 == 3 ? $0 : $0 + Int(bytes[$1]) }
        }
        return Double(sum) / Double(frame.size.width * frame.size.height * 3)
    }

    @Test("Pictures arrive as the screen changes, and every number is read from I420")
    func numbers() async throws {
        let session = try WaylandSession(size: "640x480")
        try await onThread { try session.play(size: "640x480", framesPerSecond: 15) }
        let log = NumberSink.Log()
        var capture = CapturerConfiguration()
        capture.frameLimit = 150
        let capturer = Capturer(Self.configuration(session), configuration: capture)
        capturer.attach(NumberSink(log), queue: .buffered(64, dropping: .newest))
        _ = try await capturer.run()
        let numbers = log.numbers
        #expect(log.sizes == [ImageSize(width: 640, height: 480)])
        // The rate depends on GStreamer and sway, which are late on a busy machine.
        #expect(numbers == numbers.sorted())
        #expect(numbers.count >= 100)
        // The screen is empty until GStreamer's window appears.
        #expect(log.unread <= 20)
        #expect(try session.questions() == 1)
    }

    @Test("A still screen is repeated once per refresh, with increasing times; a region can be captured")
    func still() async throws {
        try await onThread {
            let session = try WaylandSession(size: "320x240")
            try session.play(size: "320x240", framesPerSecond: 30)
            let reader = try Self.reader(session) { $0.refresh = .milliseconds(400) }
            #expect(reader.format.pixelFormat.name == "bgr0")
            #expect(reader.format.container == "PipeWire")
            _ = try reader.next()
            // Meanwhile more pictures arrive than there is memory for.
            Thread.sleep(forTimeInterval: 1.5)
            try session.clear()
            _ = try reader.next { abs(Self.mean($0) - 100) < 1 }
            let frames = try (0..<4).map { _ in try reader.next() }
            #expect(frames.allSatisfy { "\($0.size)" == "320x240" })
            // sway's background, which the script has set to #646464.
            #expect(frames.allSatisfy { abs(Self.mean($0) - 100) < 1 })
            let times = frames.compactMap(\.captureTime)
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(300) })
            #expect(frames.map(\.sequence) == (0..<4).map { frames[0].sequence + $0 })
            reader.source.close()
            try session.play(size: "320x240", framesPerSecond: 10)
            let region = ImageRect(x: 13, y: 21, width: 101, height: 33)
            let part = try Self.reader(session) { $0.region = region }
            #expect(part.format.size == region.size)
            #expect(try part.next().size == region.size)
            part.source.close()
            let outside = try Self.reader(session) { $0.region = ImageRect(x: 300, y: 0, width: 100, height: 10) }
            let error = #expect(throws: InletError.self) { _ = try outside.next() }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test("Capturing continues after the screen changes its size, and held pictures do not change")
    func resize() async throws {
        try await onThread {
            let session = try WaylandSession(size: "640x480")
            try session.play(size: "640x480", framesPerSecond: 10)
            let reader = try Self.reader(session) { $0.refresh = .milliseconds(100) }
            let held = try reader.next()
            let mean = Self.mean(held)
            try session.resize(to: "320x240")
            let frame = try reader.next { $0.size.width == 320 }
            #expect(frame.flags.contains(.discontinuity))
            #expect(frame.size == ImageSize(width: 320, height: 240))
            #expect(Self.mean(held) == mean, "a picture outlives the compositor's memory")
            reader.source.close()
            #expect(Self.mean(frame) >= 0)
            #expect(Self.mean(held) == mean, "and its source")
        }
    }

    @Test("If all pictures are held, no more arrive until one is released")
    func held() async throws {
        try await onThread {
            let session = try WaylandSession(size: "320x240")
            try session.play(size: "320x240", framesPerSecond: 30)
            let reader = try Self.reader(session) {
                $0.buffers = 2
                $0.frameRate = Rational(60)
                $0.refresh = .seconds(60)
            }
            for _ in 0..<10 { _ = try reader.next() }
            var held: [SourceFrame] = []
            let full = #expect(throws: InletError.self) {
                while held.count < 64 { held.append(try reader.next(within: .milliseconds(700))) }
            }
            #expect(full?.code == .timedOut)
            #expect((2...16).contains(held.count))
            let means = held.map(Self.mean)
            #expect(held.map(Self.mean) == means, "held pictures are not overwritten")
            held.removeFirst(held.count - 1)
            _ = try (reader.next(), reader.next(), reader.next())
        }
    }

    @Test("A declined request ends the source, without another request")
    func refusal() async throws {
        let session = try WaylandSession(answer: .no)
        try await onThread { #expect(Self.failure(session)?.code == .declined) }
        let capturer = Capturer(Self.configuration(session))
        let error = await #expect(throws: InletError.self) { _ = try await capturer.run() }
        #expect(error?.code == .declined)
        try session.setAnswer(.yes)
        try await onThread {
            try session.play(size: "640x480", framesPerSecond: 10)
            _ = try Self.reader(session).next()
        }
    }

    @Test("Waiting for the user's answer is an interruption, and is limited")
    func silence() async throws {
        try await onThread {
            let session = try WaylandSession(answer: .never)
            let reasons = Reasons()
            let context = SourceContext(
                clock: SystemClock(), logger: Logger(label: "test"), onInterruption: { reasons.note($0) })
            let source = PortalSource(Self.configuration(session) { $0.consent = .seconds(3) })
            // Less than the user's time: it does not count while the user is asked.
            context.setDeadline(after: .seconds(2))
            let error = #expect(throws: InletError.self) { _ = try source.open(context) }
            #expect(error?.code == .declined)
            #expect(reasons.all.count == 2 && reasons.all.first != nil && reasons.all.last == .some(nil))
            source.close()
        }
        try await onThread {
            let session = try WaylandSession(answer: .never)
            let source = PortalSource(Self.configuration(session))
            let context = SourceContext(clock: SystemClock(), logger: Logger(label: "test"))
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: 1.5)
                context.cancel()
            }
            let error = #expect(throws: InletError.self) { _ = try source.open(context) }
            #expect(error?.code == .cancelled)
            source.close()
        }
    }

    @Test("A stored token avoids the dialog, and a damaged one does not")
    func restore() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let path = folder.path("desk.token")
            let session = try WaylandSession(size: "320x240")
            try session.play(size: "320x240", framesPerSecond: 10)
            for round in 1...2 {
                _ = try Self.reader(session) { $0.restore = path }.next()
                #expect(try session.questions() == 1, "round \(round)")
                let facts = try FileManager.default.attributesOfItem(atPath: path)
                #expect(facts[.posixPermissions] as? Int == 0o600)
            }
            try "two words\n".write(toFile: path, atomically: true, encoding: .utf8)
            _ = try Self.reader(session) { $0.restore = path }.next()
            #expect(try session.questions() == 2)
        }
    }

    @Test("A closed source ends its session")
    func ending() async throws {
        try await onThread {
            let session = try WaylandSession(size: "320x240")
            try session.play(size: "320x240", framesPerSecond: 10)
            let reader = try Self.reader(session)
            _ = try reader.next()
            #expect(try session.sessions() == 1)
            reader.source.close()
            var left = 1
            for _ in 0..<100 where left > 0 {
                left = try session.sessions()
                Thread.sleep(forTimeInterval: 0.05)
            }
            #expect(left == 0)
        }
    }

    @Test("A crashed backend is detected, a hanging portal is not waited for, and a missing one is reported")
    func deaths() async throws {
        try await onThread {
            let session = try WaylandSession()
            try session.play(size: "640x480", framesPerSecond: 10)
            let reader = try Self.reader(session)
            _ = try reader.next()
            try session.freezePortal()
            #expect(Self.failure(session, limit: .milliseconds(700))?.code == .timedOut)
            _ = try reader.next()
            try session.thawPortal()
            try session.killBackend()
            let error = #expect(throws: InletError.self) {
                for _ in 0..<20 { _ = try reader.next() }
            }
            #expect(error.map { [.disconnected, .declined].contains($0.code) } == true)
        }
        try await onThread {
            let bare = try WaylandSession(hasPortal: false)
            let none = Self.failure(bare)
            #expect(none?.code == .notFound)
            #expect(none?.message.contains("xdg-desktop-portal") == true)
            #expect(Self.failure(bare) { $0.bus = "unix:path=/nonexistent/bus" }?.code == .notFound)
            #expect(Self.failure(bare) { $0.monitor = "HDMI-1" }?.code == .invalidConfiguration)
        }
    }

    @Test("The source keeps the contract")
    func conformance() async throws {
        let session = try WaylandSession(size: "64x48")
        try await onThread { try session.play(size: "64x48", framesPerSecond: 10) }
        let violations = await SourceConformance.check(
            Self.configuration(session) { $0.refresh = .milliseconds(100) })
        #expect(violations == [], "\(violations)")
    }
}
