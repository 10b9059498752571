import Foundation
import ReferenceTools
import Testing

/// The documents' Swift examples, compiled unchanged, and run if they need no device and no peer.
@Suite(.blocking) struct SwiftExampleTests {
    private static let path = "Tests/DocumentSnippets/Snippets.swift"
    private static let hint = "INLET_WRITE_SNIPPETS=1 swift test --filter SwiftExampleTests"

    /// The values that examples assume, with their types. Each example gets the values that it names as parameters.
    private static let given = [
        ("source", "any FrameSourceConfiguration"), ("encoder", "any FrameSinkConfiguration"), ("capturer", "Capturer"),
        ("sink", "WebRTCSinkConfiguration"), ("channel", "any SignalingChannel"), ("session", "any PeerSession"),
        ("timecode", "[UInt8]"), ("uri", "String"),
    ]

    /// A file in which each example is the body of a function.
    private static func file(of blocks: [FencedBlock]) throws -> String {
        var text = """
            // The Swift examples of the documents, each as the body of a function. Written by:
            // \(hint)
            // swift-format-ignore-file
            import Inlet

            enum Snippets {

            """
        for block in blocks {
            let body = block.lines.filter { !$0.hasPrefix("import ") }
            let words = body.joined(separator: "\n")
            let parameters = try given.filter { name, _ in
                try words.contains(Regex("(?:^|[^.\\w])\(name)(?![\\w:])")) && !words.contains("let \(name)")
            }
            let name = "\(block.path) \(block.number)".map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
            let needsWebRTC =
                words.contains("WebRTC") || words.contains("Peer")
                || parameters.contains {
                    ["sink", "channel", "session"].contains($0.0)
                }
            if needsWebRTC { text += "#if GStreamer\n" }
            text += "    static func \(name)(" + parameters.map { "\($0): \($1)" }.joined(separator: ", ")
            text += ") async throws {\n"
            text += body.map { $0.isEmpty ? "\n" : "        \($0)\n" }.joined()
            text += "    }\n"
            if needsWebRTC { text += "#endif\n" }
        }
        return text + "}\n"
    }

    @Test("The Swift examples that are compiled are those of the documents")
    func areCompiled() throws {
        let expected = try Self.file(of: FencedBlock.all().filter { $0.language == "swift" })
        let file = FencedBlock.root.appending(path: Self.path)
        if ProcessInfo.processInfo.environment["INLET_WRITE_SNIPPETS"] != nil {
            try expected.write(to: file, atomically: true, encoding: .utf8)
        }
        let actual = try String(contentsOf: file, encoding: .utf8)
        #expect(
            actual == expected,
            "\(Self.path) is not what the documents say: \(Self.hint)")
    }

    @Test("Each value that examples may assume is named by an example")
    func given() throws {
        let text = try String(contentsOf: FencedBlock.root.appending(path: Self.path), encoding: .utf8)
        for (name, type) in Self.given {
            let isNamed = text.contains("\(name): \(type)")
            #expect(isNamed, "no example names \(name)")
        }
    }

    @Test("The README's loop receives every frame of a clip of variable rate")
    func loop() throws {
        let folder = try TemporaryFolder()
        try ReferenceCommand.ffmpeg(Documents.clip(folder.path("clip.mp4"), frames: 414))
        let lines = try run("README.md 1", in: folder).split(separator: "\n")
        #expect(lines.count { $0.contains(" 320x240 ") } == 414)
    }

    @Test("The README's capturer reports its states to the end, and its sink receives the frames")
    func capturer() throws {
        let folder = try TemporaryFolder()
        try ReferenceCommand.ffmpeg(Documents.clip(folder.path("clip.mp4"), frames: 24))
        let output = try run("README.md 2", in: folder)
        #expect(output.contains("opening") && output.contains("live") && output.contains("endOfStream"), "\(output)")
        let header = try Data(contentsOf: URL(filePath: folder.path("small.y4m"))).prefix(40)
        #expect(String(decoding: header, as: UTF8.self).hasPrefix("YUV4MPEG2 W640 H360 "))
    }

    @Test("The security document's registry accepts a camera's address")
    func registry() throws { _ = try run("SECURITY.md 1", in: TemporaryFolder()) }

    /// Runs an example to its end.
    ///
    /// - Returns: the standard output. If output and log go to one pipe, a log line may appear in the middle of a line.
    private func run(_ name: String, in folder: TemporaryFolder) throws -> String {
        let done = try Documents.shell("exec DocumentSnippets '\(name)' 2>log.txt", in: folder)
        let log = (try? String(contentsOfFile: folder.path("log.txt"), encoding: .utf8)) ?? ""
        #expect(done.status == 0, "\(done.output)\(log)")
        return done.output
    }
}
