import InletCapture
import InletCore
import LifeSource

// The registry is empty because this program needs only one source. `PluginRegistry.standard` of the product Inlet has
// every source and sink of Inlet; sources are added to it in the same way.
var registry = PluginRegistry()
registry.register(SourcePlugin.life)
let source = try registry.source(CommandLine.arguments.dropFirst().first ?? "life:?cells=40x12&seed=4")

// Prints a few frames, with a character for each cell.
try await Capturer(source).run(queue: .lossless()) { frames in
    for try await frame in frames.prefix(3) {
        print("frame \(frame.sequence), PTS \(frame.pts?.seconds ?? 0) s")
        for y in stride(from: 4, to: frame.size.height, by: 8) {
            let row = frame.buffer.row(y, of: .y)
            print(String(stride(from: 4, to: frame.size.width, by: 8).map { row[$0] > 128 ? "#" : "." }))
        }
    }
}
