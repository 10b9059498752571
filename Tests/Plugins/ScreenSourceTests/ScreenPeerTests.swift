import Foundation
import InletCapture
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Testing

@testable import ScreenSource

/// Compares captures of Xvfb screens, on which xwud, ffplay and xdotool draw, with those of ffmpeg's x11grab.
@Suite(.tags(.display)) struct ScreenPeerTests {
    private static func configuration(
        _ server: VirtualScreen, _ change: (inout ScreenConfiguration) -> Void = { _ in }
    ) -> ScreenConfiguration {
        var configuration = ScreenConfiguration()
        configuration.display = server.display
        configuration.showsPointer = false
        change(&configuration)
        return configuration
    }

    private static func reader(
        _ server: VirtualScreen, _ change: (inout ScreenConfiguration) -> Void = { _ in }
    ) throws -> ScreenReader {
        try ScreenReader(ScreenSource(configuration(server, change)))
    }

    /// The rows of a picture, without padding.
    private static func rows(of frame: SourceFrame, bytesPerPixel: Int) -> [[UInt8]] {
        guard let plane = frame.planes[0],
            plane.holds(rows: frame.size.height, of: frame.size.width * bytesPerPixel)
        else { return [] }
        return (0..<frame.size.height).map { row in
            unsafe [UInt8](
                plane.bytesFromTop.dropFirst(row * plane.stride).prefix(frame.size.width * bytesPerPixel))
        }
    }

    /// The colours of a picture with 32 bits per pixel, without the unused byte.
    private static func colors(of frame: SourceFrame) -> [UInt8] {
        rows(of: frame, bytesPerPixel: 4).flatMap { row in
            row.indices.filter { $0 % 4 != 3 }.map { row[$0] }
        }
    }

    private static func show(_ graph: String, on server: VirtualScreen, _ folder: TemporaryFolder) throws -> String {
        let path = folder.path("picture.xwd")
        try ReferenceCommand.ffmpeg(["-f", "lavfi", "-i", graph, "-frames:v", "1", "-pix_fmt", "bgra", path])
        try server.show(path)
        return path
    }

    /// The largest difference between two pictures' samples.
    private static func difference(_ first: [UInt8], _ second: Data) -> Int {
        guard first.count == second.count else { return .max }
        return zip(first, second).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    @Test("A screen is captured bit for bit, completely and in part", arguments: ["640x480", "637x479"])
    func pixels(size: String) async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let server = try VirtualScreen(size: size)
            let path = try Self.show("testsrc=size=\(size)", on: server, folder)
            let truth = try ReferenceCommand.ffmpeg(["-i", path, "-pix_fmt", "bgr24", "-f", "rawvideo", "-"])
            let frame = try Self.reader(server).next()
            #expect(frame.pixelFormat.name == "bgr0")
            #expect("\(frame.size)" == size)
            #expect(truth.count == frame.size.width * frame.size.height * 3)
            #expect(Self.difference(Self.colors(of: frame), truth) == 0)

            let part = try ReferenceCommand.ffmpeg([
                "-i", path, "-vf", "crop=101:33:203:55", "-pix_fmt", "bgr24", "-f", "rawvideo", "-",
            ])
            let region = ImageRect(x: 203, y: 55, width: 101, height: 33)
            let inner = try Self.reader(server) { $0.region = region }.next()
            #expect(Self.difference(Self.colors(of: inner), part) == 0)
            let monitor = try Self.reader(server) { $0.monitor = "screen" }.next()
            #expect(Self.difference(Self.colors(of: monitor), truth) == 0)
        }
    }

    @Test("A screen with 16 bits per pixel is captured bit for bit")
    func shallow() async throws {
        try await onThread {
            let server = try VirtualScreen(size: "320x240", depth: 16)
            let reader = try Self.reader(server)
            #expect(reader.format.pixelFormat.name == "rgb565le")
            try server.play(size: "320x240", framesPerSecond: 5)
            // The drawing program has opened its window.
            _ = try reader.next { Set(Self.rows(of: $0, bytesPerPixel: 2).joined()).count > 2 }
            try server.pause()
            // The last drawing may not have been captured yet.
            _ = try (reader.next(), reader.next())
            let truth = try ReferenceCommand.ffmpeg([
                "-f", "x11grab", "-draw_mouse", "0", "-i", server.display, "-frames:v", "1", "-f", "rawvideo",
                "-pix_fmt", "rgb565le", "-",
            ])
            #expect(Set(truth).count > 2)
            #expect(Self.rows(of: try reader.next(), bytesPerPixel: 2).joined().elementsEqual(truth))
        }
    }

    @Test("The pointer is drawn like ffmpeg's at any position, and its moves cause pictures by themselves")
    func pointer() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let server = try VirtualScreen(size: "320x240")
            _ = try Self.show("testsrc=size=320x240", on: server, folder)
            let reader = try Self.reader(server) {
                $0.showsPointer = true
                $0.refresh = .seconds(60)
            }
            _ = try reader.next()
            for (x, y) in [(100, 50), (0, 0), (319, 239), (317, 100), (40, 238)] {
                try server.movePointer(x: x, y: y)
                let own = Self.colors(of: try reader.next())
                let grabbed = try ReferenceCommand.ffmpeg([
                    "-f", "x11grab", "-draw_mouse", "1", "-i", server.display, "-frames:v", "1", "-pix_fmt",
                    "bgr24", "-f", "rawvideo", "-",
                ])
                let bare = Self.colors(of: try Self.reader(server).next())
                #expect(own != bare, "the pointer at \(x), \(y) is in the picture")
                #expect(Self.difference(own, grabbed) <= 2)
            }
        }
    }

    @Test("Pictures arrive as the screen changes: every number is read, and a still screen yields one per refresh")
    func numbers() async throws {
        let server = try VirtualScreen(size: "640x480")
        let log = NumberSink.Log()
        let capturer = Capturer(
            Self.configuration(server) {
                $0.frameRate = Rational(120)
                // A missed picture is not repeated as that of a still screen.
                $0.refresh = .seconds(60)
            })
        capturer.attach(NumberSink(log), queue: .buffered(64, dropping: .newest))
        async let end = capturer.run()
        // The player needs a few pictures to begin.
        var number: UInt32 = 0
        while log.numbers.isEmpty, number < 300 {
            try await onThread { [number] in try server.draw(number, size: "640x480") }
            number += 1
            try await Task.sleep(for: .milliseconds(100))
        }
        let first = number
        while number < first + 150 {
            try await onThread { [number] in try server.draw(number, size: "640x480") }
            try await Waiting.until("picture \(number)", progress: { log.frames }) { log.numbers.last == number }
            number += 1
        }
        capturer.stop()
        _ = try await end
        let numbers = log.numbers
        #expect(numbers == numbers.sorted())
        #expect(numbers.suffix(150).elementsEqual(first..<number))
        // The sink receives more pictures than were drawn, because a window is drawn in parts.
        #expect(Double(log.frames) < Double(numbers.count) * 2.5)

        try await onThread {
            try server.clear()
            let reader = try Self.reader(server) { $0.refresh = .milliseconds(500) }
            _ = try reader.next()
            var times: [MonotonicTime] = []
            for _ in 0..<4 { times.append(try #require(try reader.next().captureTime)) }
            let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
            #expect(gaps.allSatisfy { $0 >= .milliseconds(400) })
        }
    }

    @Test("Capturing continues after the screen changes its size")
    func resize() async throws {
        try await onThread {
            let server = try VirtualScreen(size: "640x480")
            let reader = try Self.reader(server)
            #expect(try reader.next().size == ImageSize(width: 640, height: 480))
            try server.resize(to: "320x240")
            var frame = try reader.next()
            for _ in 0..<5 where frame.size.width == 640 { frame = try reader.next() }
            #expect(frame.size == ImageSize(width: 320, height: 240))
            #expect(frame.flags.contains(.discontinuity))
            #expect(!(try reader.next().flags.contains(.discontinuity)))

            let region = try Self.reader(server) { $0.region = ImageRect(x: 200, y: 100, width: 100, height: 100) }
            #expect(try region.next().size == ImageSize(width: 100, height: 100))
            try server.resize(to: "240x180")
            let error = #expect(throws: InletError.self) {
                for _ in 0..<5 { _ = try region.next() }
            }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test("A server keeps no memory for pictures of a previous size, or of a closed source")
    func memory() async throws {
        try await onThread {
            let server = try VirtualScreen(size: "640x480")
            do {
                let reader = try Self.reader(server) {
                    $0.buffers = 2
                    $0.refresh = .milliseconds(100)
                }
                for size in ["600x400", "500x300", "400x200"] {
                    var held = try [reader.next(), reader.next()]
                    #expect(try server.segments() == 2)
                    try server.resize(to: size)
                    held.removeFirst()
                    for _ in 0..<20 where "\(held[0].size)" != size { held = [try reader.next()] }
                    #expect("\(held[0].size)" == size)
                    held = try [held[0], reader.next()]
                    #expect(try server.segments() == 2)
                }
                reader.source.close()
            }
            // The server notices this at its next read from the connection.
            var left = try server.segments()
            for _ in 0..<100 where left != 0 {
                Thread.sleep(forTimeInterval: 0.05)
                left = try server.segments()
            }
            #expect(left == 0)
        }
    }

    @Test("A killed server is detected at once, and a hanging one after the remaining time")
    func deaths() async throws {
        try await onThread {
            let server = try VirtualScreen()
            let reader = try Self.reader(server)
            _ = try reader.next()
            try server.freeze()
            let late = #expect(throws: InletError.self) {
                for _ in 0..<3 { _ = try reader.next(within: .milliseconds(600)) }
            }
            #expect(late?.code == .timedOut)
            let unopened = ScreenSource(Self.configuration(server))
            let context = SourceContext(clock: SystemClock(), logger: Logger(label: "test"))
            context.setDeadline(after: .milliseconds(300))
            let mute = #expect(throws: InletError.self) { try unopened.open(context) }
            #expect(mute?.code == .timedOut)
            unopened.close()
            try server.thaw()
            _ = try reader.next()
            try server.kill()
            let gone = #expect(throws: InletError.self) {
                for _ in 0..<5 { _ = try reader.next() }
            }
            #expect(gone?.code == .disconnected)
            let again = #expect(throws: InletError.self) { _ = try Self.reader(server) }
            #expect(again?.code == .notFound)
        }
    }

    @Test("Without DAMAGE, pictures arrive at the rate; without shared memory, the error states the remedy")
    func extensions() async throws {
        try await onThread {
            let blind = try VirtualScreen(without: "DAMAGE")
            let reader = try Self.reader(blind) { $0.refresh = .seconds(60) }
            for _ in 0..<10 { _ = try reader.next() }
            let apart = try VirtualScreen(without: "MIT-SHM")
            let error = #expect(throws: InletError.self) { _ = try Self.reader(apart) }
            #expect(error?.code == .unsupported)
        }
    }

    @Test("Pictures that sinks hold are not overwritten, and a picture without memory is dropped")
    func held() async throws {
        try await onThread {
            let server = try VirtualScreen(size: "320x240")
            let reader = try Self.reader(server) {
                $0.buffers = 2
                $0.refresh = .milliseconds(100)
            }
            var held: [SourceFrame] = [try reader.next(), try reader.next()]
            let colors = held.map(Self.colors)
            let full = #expect(throws: InletError.self) { _ = try reader.next(within: .milliseconds(400)) }
            #expect(full?.code == .timedOut)
            #expect(held.map(Self.colors) == colors)
            let last = held.removeLast().sequence
            let next = try reader.next()
            #expect(next.sequence > last + 1, "the dropped pictures are missing in the numbers")
            reader.source.close()
            #expect(Self.colors(of: held[0]) == colors[0], "a picture outlives its source")
        }
    }

    @Test("The source keeps the contract")
    func conformance() async throws {
        let server = try VirtualScreen(size: "64x48")
        var configuration = ScreenConfiguration()
        configuration.display = server.display
        configuration.refresh = .milliseconds(100)
        let violations = await SourceConformance.check(configuration)
        #expect(violations == [], "\(violations)")
    }
}
