import Foundation
import Inlet

/// Finds a ball in a camera's pictures, draws a box around it, and forwards the pictures:
/// `swift run InjectedFrames v4l2: out.mp4`.
///
/// Without arguments, a test pattern of two seconds replaces the camera, and the video is written to a temporary
/// folder.
@main struct InjectedFrames {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let cameraURI = arguments.first ?? "pattern:ball?size=640x480&fps=30&frames=60"
        let folder = FileManager.default.temporaryDirectory.appending(path: "inlet-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        if arguments.count < 2 {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let path = arguments.count > 1 ? arguments[1] : folder.appending(path: "marked.mp4").path

        // The marked pictures are published under a name, so that they can be used like any other source.
        let injector = try FrameInjector(InjectorConfiguration(queue: .bounded(8)))
        var directory = InjectorDirectory()
        try directory.add(injector, as: "marked")
        var registry = PluginRegistry.standard
        registry.register(SourcePlugin.inject(directory))

        let camera = Capturer(try registry.source(cameraURI))
        let output = Capturer(try registry.source("inject:marked"))
        output.attach(try registry.sink("mp4:\(path)"), queue: .lossless())
        async let ended = output.run()

        var detector = BallDetector()
        try await camera.run { frames in
            for try await frame in frames {
                guard let box = detector.find(in: frame.buffer) else { continue }
                if frame.sequence % 15 == 0 { print("frame \(frame.sequence): the ball is at \(box.x),\(box.y)") }
                let marked = try detector.marked(frame.buffer, box)
                try injector.push(marked, pts: frame.pts, colorSpace: frame.colorSpace, rotation: frame.rotation)
            }
        }
        injector.end()
        let reason = try await ended
        let figures = injector.statistics
        print("\(figures.delivered) of \(figures.pushed) pictures forwarded, \(reason)")
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        print("\(URL(filePath: path).lastPathComponent): \(size) bytes")
        guard figures.delivered > 0, size > 0 else { throw Failure() }
    }

    struct Failure: Error {}
}

/// Finds pixels brighter than the picture's upper left corner, which is enough for a ball in front of a wall.
struct BallDetector {
    private let pool = I420BufferPool(capacity: 16)

    func find(in picture: I420Buffer) -> ImageRect? {
        let wall = Int(picture.row(0, of: .y)[0])
        var (left, right, top, bottom) = (Int.max, -1, Int.max, -1)
        for y in 0..<picture.size.height {
            let row = picture.row(y, of: .y)
            for x in row.indices where abs(Int(row[x]) - wall) > 40 {
                (left, right) = (min(left, x), max(right, x))
                (top, bottom) = (min(top, y), y)
            }
        }
        guard right >= left else { return nil }
        return ImageRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }

    /// Returns a copy with a white box. A frame that a source has yielded must not be written to.
    mutating func marked(_ picture: I420Buffer, _ box: ImageRect) throws -> I420Buffer {
        var draft = try pool.makeBuffer(size: picture.size)
        let strides = draft.strides
        for plane in I420Buffer.Plane.allCases {
            var target = draft.mutableBytes(of: plane)
            for y in 0..<I420Buffer.rows(of: plane, in: picture.size).height {
                let row = picture.row(y, of: plane)
                for x in row.indices { target[y * strides[plane] + x] = row[x] }
            }
        }
        var luma = draft.mutableBytes(of: .y)
        for x in box.x..<box.x + box.size.width {
            luma[box.y * strides.y + x] = 235
            luma[(box.y + box.size.height - 1) * strides.y + x] = 235
        }
        for y in box.y..<box.y + box.size.height {
            luma[y * strides.y + box.x] = 235
            luma[y * strides.y + box.x + box.size.width - 1] = 235
        }
        return draft.publish()
    }
}
