import Foundation
import InletCore
import InletV4L2
import ReferenceTools
import Synchronization
import Testing
import V4L2Sink
import V4L2Source

extension DriverTests {
    /// v4l2loopback's ring: its writer continues whether or not a reader holds the next buffer.
    @Suite struct LoopbackRing {
        /// A separate device, because the length of a shortened ring stays.
        private static let node = "/dev/video42"
        private static let size = ImageSize(width: 320, height: 240)

        /// A picture of which every row of luma contains its number.
        static func frame(_ number: Int) throws -> VideoFrame {
            var draft = try I420Draft(size: size)
            draft.fill(y: UInt8(truncatingIfNeeded: number), u: UInt8(truncatingIfNeeded: number >> 8), v: 128)
            return VideoFrame(
                buffer: draft.publish(), timestamp: MonotonicTime(nanoseconds: Int64(number)), sequence: UInt64(number),
                colorSpace: .bt601, sampleAspectRatio: Rational(1))
        }

        /// The number of a picture; nil for one with parts of two.
        private static func number(_ frame: SourceFrame) throws -> Int? {
            let bytes = try #require(PictureFile.packed(frame))
            let count = size.width * size.height
            let (luma, chroma) = (bytes.prefix(count), bytes.dropFirst(count).prefix(count / 4))
            guard let low = luma.first, let high = chroma.first, luma.allSatisfy({ $0 == low }),
                chroma.allSatisfy({ $0 == high })
            else { return nil }
            return Int(low) + Int(high) << 8
        }

        static func makeWriter(_ node: String = node) throws -> any FrameSink {
            let writer = V4L2SinkConfiguration(.node(node), format: .yu12).makeSink()
            try writer.start(VideoFormat(size: size, timeBase: Rational(1, 30)), SinkContext())
            return writer
        }

        @Test(
            "No picture changes while it is held, none is repeated and none is counted as lost, at any ring position",
            arguments: [1, 3, 7, 8, 15, 23])
        func held(written: Int) throws {
            let writer = try Self.makeWriter()
            for number in 1...written { try writer.consume(Self.frame(number)) }
            let camera = try TestCamera(V4L2Configuration(.node(Self.node)))
            var frames = [try camera.next()]
            for number in written + 1...written + 20 {
                try writer.consume(Self.frame(number))
                frames.append(try camera.next())
            }
            #expect(try frames.map(Self.number) == Array(written...written + 20))
            #expect(frames.map(\.sequence) == (0...20).map(UInt64.init))
            #expect(camera.context.dropCounts.isEmpty)
            camera.close()
            try writer.finish()
        }

        @Test("However fast the writer is, and in a ring of two, no picture has parts of two, and none is repeated")
        func torn() async throws {
            let writer = try Self.makeWriter()
            try writer.consume(Self.frame(1))
            // A reader that requests two buffers leaves two to all.
            try ReferenceCommand.run("v4l2-ctl", ["-d", Self.node, "--stream-mmap=2", "--stream-count=1"])
            let isDone = Atomic(false)
            async let last = Task.detached {
                var number = 1
                while !isDone.load(ordering: .relaxed) {
                    number += 1
                    try writer.consume(Self.frame(number))
                }
                try writer.finish()
                return number
            }.value
            var numbers: [Int?] = []
            do {
                defer { isDone.store(true, ordering: .relaxed) }
                let camera = try TestCamera(V4L2Configuration(.node(Self.node)))
                for _ in 0..<100 { numbers.append(try Self.number(try camera.next())) }
            }
            #expect(try await last > 100)
            let whole = numbers.compactMap(\.self)
            #expect(whole.count == numbers.count, "\(numbers)")
            #expect(zip(whole, whole.dropFirst()).allSatisfy { $0 < $1 }, "\(whole)")
        }
    }
}
