import InletCore
import InletTesting
import LifeSource
import Logging

// Reads a few frames and prints them, a character for each cell. The clock of the testing kit does not wait, so nor does this.
var registry = PluginRegistry()
registry.register(SourcePlugin.life)
let configuration = try registry.source(CommandLine.arguments.dropFirst().first ?? "life:?cells=40x12&seed=4")

let context = SourceContext(clock: ManualClock(waiting: .movesTime), logger: Logger(label: "life"))
let source = configuration.makeSource()
let format = try source.open(context)
print("\(configuration.redactedURI): \(format.size) \(format.pixelFormat), \(format.frameRate?.description ?? "?") fps")
for _ in 0..<3 {
    guard let frame = try source.nextFrame(context), let picture = frame.owner as? I420Buffer else { break }
    print("frame \(frame.sequence), PTS \(frame.pts?.seconds ?? 0) s")
    for y in stride(from: 4, to: picture.size.height, by: 8) {
        let row = picture.row(y, of: .y)
        print(String(stride(from: 4, to: picture.size.width, by: 8).map { row[$0] > 128 ? "#" : "." }))
    }
}
source.close()
