import Foundation
import Inlet
import InletSystem
import ReferenceTools
import Synchronization
import Testing

@testable import InletServe

/// Requests for recordings at the moment when a recording ends, fails, or receives nothing.
@Suite(.serialized, .takes(atMostMinutes: 1)) final class CameraRecorderTests {
    /// Packet sinks that fail or wait as a test requests.
    private final class Disk: Sendable {
        struct State {
            var isBroken = false
            var started = 0
        }

        let state = Mutex(State())
        /// A lock that a test holds as long as files must not be finished.
        let finishing = DispatchSemaphore(value: 0)

        var registry: PluginRegistry {
            var registry = PluginRegistry()
            let info = PluginInfo(
                name: "Files", schemes: ["mp4"], summary: "Test files", usage: "mp4:FILE", options: [], examples: [],
                takesOtherOptions: true)
            registry.register(
                SinkPlugin(info) { uri, _ in
                    let path = uri.text.dropFirst("mp4:".count).prefix { $0 != "?" }
                    return Configuration(
                        redactedURI: uri.text, path: path.removingPercentEncoding ?? String(path), disk: self)
                })
            return registry
        }
    }

    private struct Configuration: PacketSinkConfiguration {
        var redactedURI: String
        var path: String
        var disk: Disk

        func makeSink() -> any FrameSink { Pictures() }
        func makePacketSink() -> any PacketSink { Sink(disk, path) }
    }

    private final class Pictures: FrameSink {
        func consume(_: VideoFrame) {}
    }

    private final class Sink: PacketSink {
        let disk: Disk
        let path: String

        init(_ disk: Disk, _ path: String) { (self.disk, self.path) = (disk, path) }

        func start(_: CodecParameters) {
            // It is synced.
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            disk.state.withLock { $0.started += 1 }
        }

        func write(_: EncodedPacket) throws {
            if disk.state.withLock({ $0.isBroken }) { throw InletError(.inputOutput, "The disk is broken.") }
        }

        func finish() {
            disk.finishing.wait()
            disk.finishing.signal()
        }
    }

    private let disk = Disk()
    private let folder: TemporaryFolder
    private let media: CameraMedia
    private let recorder: CameraRecorder
    private var settings = RecordSettings()

    init() throws {
        folder = try TemporaryFolder()
        settings.folder = folder.path("recordings")
        media = CameraMedia(camera: "door", settings)
        recorder = CameraRecorder(
            media, registry: disk.registry, clock: SystemClock(), lanes: FileLanes(), logger: silent, report: { _ in })
    }

    deinit { disk.finishing.signal() }

    private func sendKeyFrame(after seconds: Int = 0) {
        let time = MonotonicTime.now + .seconds(seconds)
        let stamp = MediaTime(ticks: time.nanoseconds, timeBase: Rational(1, 1_000_000_000))
        media.hub.write(
            EncodedPacket(data: PacketData([0]), pts: stamp, dts: stamp, isKey: true, captureTime: time))
    }

    private func begin() {
        media.hub.start(
            CodecParameters(
                codec: .h264, size: ImageSize(width: 64, height: 64), timeBase: Rational(1, 1_000_000_000)))
    }

    /// Returns when a condition is true.
    private func wait(_ what: String, until holds: () -> Bool) async throws {
        for _ in 0..<3000 {
            if holds() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("\(what) never happened")
    }

    /// The threads of recordings in this process.
    private static var threadCount: Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "inlet-record\n"
        }
    }

    @Test("Requests while a camera sends nothing take one thread, and the recording ends without a packet")
    func silence() async throws {
        disk.finishing.signal()
        begin()
        for _ in 0..<200 { _ = try recorder.record(settings, for: .milliseconds(1), cause: "api") }
        #expect(Self.threadCount == 1)
        try await wait("the end of the recording") { recorder.ticket == nil && Self.threadCount == 0 }
        for _ in 0..<20 {
            // Each request after the end of the previous recording.
            _ = try recorder.record(settings, for: .nanoseconds(-4_000_000_000), cause: "api")
            try await wait("the end of the recording") { recorder.ticket == nil }
        }
        try await wait("the end of all threads") { Self.threadCount == 0 }
    }

    @Test("A request while a recording finishes its file begins another one, which runs")
    func window() async throws {
        begin()
        sendKeyFrame()
        let first = try recorder.record(settings, for: .seconds(10), cause: "api")
        try await wait("the first file") { first.name != nil }
        #expect(try recorder.record(settings, for: .seconds(11), cause: "api") === first)
        sendKeyFrame(after: 20)
        try await wait("the end of the time") { first.isClosed }
        let second = try recorder.record(settings, for: .seconds(60), cause: "api")
        #expect(second !== first && recorder.ticket === second)
        sendKeyFrame(after: 21)
        try await wait("the second file") { second.name != nil }
        #expect(disk.state.withLock { $0.started } == 2)
        disk.finishing.signal()
        #expect(await recorder.stop() === second && recorder.ticket == nil)
    }

    @Test("A request while a recording fails begins another one")
    func failure() async throws {
        disk.state.withLock { $0.isBroken = true }
        begin()
        sendKeyFrame()
        let first = try recorder.record(settings, for: .seconds(10), cause: "api")
        try await wait("the failure") { first.isClosed }
        disk.state.withLock { $0.isBroken = false }
        let second = try recorder.record(settings, for: .seconds(10), cause: "motion")
        #expect(second !== first)
        try await wait("the second file") { second.name != nil }
        disk.finishing.signal()
        #expect(await recorder.stop() === second)
    }

    @Test("Recordings that a disk does not finish are limited: further requests are refused with the reason")
    func bound() async throws {
        begin()
        sendKeyFrame()
        var refusal: InletError?
        while refusal == nil, Self.threadCount < 20 {
            do throws(InletError) {
                let ticket = try recorder.record(settings, for: .seconds(10), cause: "api")
                try? await wait("the file") { ticket.name != nil }
                Task { [recorder] in await recorder.stop() }
                try? await wait("the stop") { ticket.isClosed }
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.code == .busy && refusal?.message.contains(folder.path("recordings")) == true)
        #expect(Self.threadCount == 4)
        disk.finishing.signal()
        try await wait("the end of all threads") { Self.threadCount == 0 }
        _ = try recorder.record(settings, for: .seconds(10), cause: "api")
        _ = await recorder.stop()
    }
}
