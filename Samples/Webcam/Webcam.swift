import Inlet

/// Prints the brightness of a webcam's pictures, twice a second for three seconds: `swift run Webcam C920`.
///
/// Without a name it uses the first camera, or a test pattern if no camera can be opened.
@main struct Webcam {
    static func main() async throws {
        let capturer = Capturer(try camera(named: CommandLine.arguments.dropFirst().first))
        // The library scales pictures and skips frames: an average needs neither all pixels nor all frames.
        let wants = SinkWants(size: ImageSize(width: 64, height: 48), maximumFrameRate: Rational(2))
        try await capturer.run(queue: .latest, wants: wants) { frames in
            var count = 0
            for try await frame in frames {
                print("frame \(frame.sequence): brightness \(brightness(of: frame)) of 255")
                count += 1
                if count == 6 { break }
            }
        }
    }

    /// Returns the camera with the given name or the first one, or a pattern if this user can open no camera.
    private static func camera(named name: String?) throws -> any FrameSourceConfiguration {
        if let name { return try PluginRegistry.standard.source("v4l2:?name=\(name)") }
        let cameras = V4L2Devices.list(formats: false)
        for camera in cameras { print("\(camera.node): \(camera.identity.name) \(camera.trouble ?? "")") }
        if let camera = cameras.first(where: { $0.trouble == nil }) {
            return try PluginRegistry.standard.source("v4l2:\(camera.node)")
        }
        print("No camera can be opened. Plug one in. A test pattern replaces it for now.")
        return try PluginRegistry.standard.source("pattern:ball?size=640x480&fps=30&pace=realtime")
    }

    private static func brightness(of frame: VideoFrame) -> Int {
        var sum = 0
        for y in 0..<frame.size.height {
            let row = frame.buffer.row(y, of: .y)
            for x in row.indices { sum += Int(row[x]) }
        }
        return sum / (frame.size.width * frame.size.height)
    }
}
