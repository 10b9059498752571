import Inlet

/// Prints the properties of a source's first frame: `swift run FirstFrame clip.mp4`.
@main struct FirstFrame {
    static func main() async throws {
        let uri = CommandLine.arguments.dropFirst().first ?? "pattern:smpte"
        let capturer = Capturer(try PluginRegistry.standard.source(uri))
        try await capturer.run { frames in
            for try await frame in frames {
                let luma = frame.buffer.row(frame.size.height / 2, of: .y)[frame.size.width / 2]
                print("\(frame.size) at \(frame.timestamp.nanoseconds) ns, range \(frame.colorSpace.range.rawValue)")
                print("the luma of the middle pixel is \(luma)")
                break
            }
        }
    }
}
