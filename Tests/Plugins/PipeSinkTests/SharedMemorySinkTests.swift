import Foundation
import Glibc
import InletCapture
import InletCore
import InletTesting
import PatternSource
import PipeSink
import ReferenceTools
import Synchronization
import Testing

/// The shared memory as the reader of Samples sees it.
@Suite(.tags(.encoder)) struct SharedMemorySinkTests {
    static let size = ImageSize(width: 161, height: 123)

    private func freshName() -> String { "inlet-test-\(UUID().uuidString)" }

    private func frames(_ count: Int, _ size: ImageSize = size) async throws -> [VideoFrame] {
        let configuration = PatternConfiguration(
            .timecode, size: size, frameRate: Rational(30), frames: UInt64(count), pace: .unpaced)
        return try await Capturer(configuration).run(queue: .lossless()) { frames in
            var all: [VideoFrame] = []
            for try await frame in frames { all.append(frame) }
            return all
        }
    }

    private func start(_ configuration: SharedMemorySinkConfiguration, _ frame: VideoFrame) throws -> any FrameSink {
        let sink = configuration.makeSink()
        try sink.start(
            VideoFormat(size: frame.size, timeBase: Rational(1, 30), colorSpace: frame.colorSpace), SinkContext())
        return sink
    }

    private func packed(_ picture: I420Buffer) -> Data {
        var data = Data()
        for plane in I420Buffer.Plane.allCases {
            for row in 0..<I420Buffer.rows(of: plane, in: picture.size).height {
                let pixels = picture.row(row, of: plane)
                for column in pixels.indices { data.append(pixels[column]) }
            }
        }
        return data
    }

    @Test("shm keeps the contract of sinks")
    func conformance() async throws {
        var conformance = SinkConformance()
        conformance.unusable = SharedMemorySinkConfiguration(name: "no/such/folder")
        let violations = await conformance.check { SharedMemorySinkConfiguration(name: freshName()) }
        #expect(violations == [])
    }

    @Test("The Python reader sees every frame's number, times and pixels")
    func reader() async throws {
        let frames = try await frames(9)
        let folder = try TemporaryFolder()
        let configuration = SharedMemorySinkConfiguration(name: freshName(), slots: 2)
        let sink = try start(configuration, frames[0])
        let reader = try SharedMemoryReader(configuration.name)
        defer { reader.stop() }
        #expect(try reader.ask("read -") == ["none"])
        for (index, frame) in frames.enumerated() {
            try sink.consume(frame)
            let path = folder.path("\(index)")
            #expect(
                try reader.ask("read \(path)") == [
                    "frame", "\(index + 1)", "\(frame.sequence)", "\(frame.timestamp.nanoseconds)",
                    "\(frame.pts?.ticks ?? -1)", "161x123", "1", "\(index)",
                ])
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == packed(frame.buffer))
            #expect(try reader.ask("read -") == ["none"])
        }
        #expect(try reader.ask("torn") == ["0"])
        try sink.finish()
        #expect(try reader.ask("read -") == ["ended"])
        #expect(!FileManager.default.fileExists(atPath: "/dev/shm/\(configuration.name)"))
    }

    @Test(
        "A frame that is overwritten while it is read is detected as torn, and the newest follows",
        arguments: [2, 5])
    func torn(slots: Int) async throws {
        let frames = try await frames(2 * slots + 2)
        let configuration = SharedMemorySinkConfiguration(name: freshName(), slots: slots)
        let sink = try start(configuration, frames[0])
        let reader = try SharedMemoryReader(configuration.name)
        defer { reader.stop() }
        try sink.consume(frames[0])
        // As many frames as there are other slots leave it intact; one more overwrites it.
        #expect(try reader.ask("hold") == ["copied"])
        for frame in frames[1..<slots] { try sink.consume(frame) }
        #expect(try reader.ask("go")[0] == "frame")
        #expect(try reader.ask("hold") == ["copied"])
        for frame in frames[slots..<2 * slots] { try sink.consume(frame) }
        #expect(try reader.ask("go") == ["none"])
        #expect(try reader.ask("torn") == ["1"])
        #expect(try reader.ask("read -")[1] == "\(2 * slots)")
        try sink.finish()
    }

    @Test("Larger pictures continue in a new segment of the same name, with consecutive numbers")
    func growth() async throws {
        let small = try await frames(1, ImageSize(width: 64, height: 64))[0]
        let large = try await frames(1, ImageSize(width: 640, height: 360))[0]
        let configuration = SharedMemorySinkConfiguration(name: freshName())
        let sink = try start(configuration, small)
        let reader = try SharedMemoryReader(configuration.name)
        defer { reader.stop() }
        try sink.consume(small)
        #expect(try reader.ask("read -")[1] == "1")
        try sink.consume(large)
        #expect(try reader.ask("read -") == ["none"])
        let answer = try reader.ask("read -")
        #expect(answer[1] == "2" && answer[5] == "640x360")
        // A smaller picture fits into the slot of a larger one.
        try sink.consume(small)
        #expect(try reader.ask("read -")[5] == "64x64")
        try sink.finish()
    }

    @Test(
        "A name in use is refused, a killed writer's name is taken over, and a foreign file is not touched"
    )
    func names() async throws {
        let frame = try await frames(1)[0]
        let configuration = SharedMemorySinkConfiguration(name: freshName())
        let sink = try start(configuration, frame)
        let busy = #expect(throws: InletError.self) { try start(configuration, frame) }
        #expect(busy?.code == .busy)
        #expect(busy?.message.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)

        // A killed writer leaves this: the same segment with the number of an ended process.
        let path = "/dev/shm/\(configuration.name)"
        var left = try Data(contentsOf: URL(fileURLWithPath: path))
        try sink.finish()
        let gone = Process()
        gone.executableURL = URL(fileURLWithPath: "/bin/true")
        try gone.run()
        gone.waitUntilExit()
        let number = UInt32(bitPattern: gone.processIdentifier)
        left.replaceSubrange(40..<44, with: (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
        try left.write(to: URL(fileURLWithPath: path))
        let next = try start(configuration, frame)
        try next.finish()

        try Data("something else".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: InletError.self) { try start(configuration, frame) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("something else".utf8))
    }

    @Test("A reader detects after the last frame that its writer was killed, and reads from the next writer")
    func killedWriter() async throws {
        let frames = try await frames(3)
        let configuration = SharedMemorySinkConfiguration(name: freshName())
        // A sink that is released without finishing leaves the same as a killed process.
        var sink: (any FrameSink)? = try start(configuration, frames[0])
        let reader = try SharedMemoryReader(configuration.name)
        defer { reader.stop() }
        try sink?.consume(frames[0])
        #expect(try reader.ask("read -")[1] == "1")
        #expect(try reader.ask("read -") == ["none"])
        try sink?.consume(frames[1])
        sink = nil
        #expect(try reader.ask("read -")[1] == "2")
        #expect(try reader.ask("read -") == ["ended"])
        #expect(FileManager.default.fileExists(atPath: "/dev/shm/\(configuration.name)"))

        let next = try start(configuration, frames[0])
        try next.consume(frames[2])
        #expect(try reader.ask("read -") == ["ended"])
        let another = try SharedMemoryReader(configuration.name)
        defer { another.stop() }
        #expect(try another.ask("read -")[1] == "1")
        #expect(try another.ask("read -") == ["none"])
        try next.finish()
    }

    @Test("If several writers take over a dead writer's name at once, one succeeds, while readers check it")
    func race() async throws {
        let frame = try await frames(1)[0]
        let configuration = SharedMemorySinkConfiguration(name: freshName())
        let path = "/dev/shm/\(configuration.name)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        for round in 0..<30 {
            // In every other round there is nothing to take over.
            if round % 2 == 0 { _ = try start(configuration, frame) }
            let winners: [Held] = await withTaskGroup(of: Held?.self) { group in
                for number in 0..<8 {
                    group.addTask { () -> Held? in
                        if number == 7 {
                            // A reader that checks whether the writer is alive.
                            let file = FileHandle(forReadingAtPath: path)
                            if let file { flock(file.fileDescriptor, LOCK_SH | LOCK_NB) }
                            try? file?.close()
                            return nil
                        }
                        do {
                            return Held(try start(configuration, frame))
                        } catch {
                            #expect((error as? InletError)?.code == .busy)
                            return nil
                        }
                    }
                }
                return await group.reduce(into: []) { if let winner = $1 { $0.append(winner) } }
            }
            #expect(winners.count == 1)
            #expect(FileManager.default.fileExists(atPath: path))
            // The name belongs to the winner, and is removed with it.
            try winners.first?.sink.finish()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm").filter {
            $0.hasPrefix(".inlet-")
        }
        #expect(left == [])
    }

    /// Holds a sink that was made on another thread and is used by only one thread.
    private struct Held: @unchecked Sendable {
        let sink: any FrameSink

        init(_ sink: any FrameSink) { self.sink = sink }
    }

    @Test("The name always refers to complete memory, even while the memory grows")
    func alwaysWhole() async throws {
        let small = try await frames(1, ImageSize(width: 64, height: 64))[0]
        let configuration = SharedMemorySinkConfiguration(name: freshName())
        let path = "/dev/shm/\(configuration.name)"
        let sink = try start(configuration, small)
        let isDone = Flag()
        async let looks = onThread {
            var count = 0
            while !isDone.value.load(ordering: .acquiring) {
                let header = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(12)
                guard header == Data("INLETSHM".utf8) + [1, 0, 0, 0] else { return -1 }
                count += 1
            }
            return count
        }
        for width in 1...20 {
            try sink.consume(try await frames(1, ImageSize(width: 64 + 64 * width, height: 64))[0])
        }
        isDone.value.store(true, ordering: .releasing)
        #expect(try await looks >= 0)
        try sink.finish()
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    @Test(
        "Only the permitted users may read",
        arguments: [
            (SharedMemorySinkConfiguration.Readers.user, 0o600), (.group, 0o640), (.all, 0o644),
        ])
    func readers(readers: SharedMemorySinkConfiguration.Readers, mode: Int) async throws {
        let frame = try await frames(1)[0]
        let configuration = SharedMemorySinkConfiguration(name: freshName(), readers: readers)
        let sink = try start(configuration, frame)
        let attributes = try FileManager.default.attributesOfItem(atPath: "/dev/shm/\(configuration.name)")
        #expect(attributes[.posixPermissions] as? Int == mode)
        try sink.finish()
    }
}
