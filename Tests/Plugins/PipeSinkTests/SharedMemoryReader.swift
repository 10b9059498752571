import Foundation
import ReferenceTools

/// Runs the reader of Samples in a separate process, which reads on command.
///
/// Commands are lines: `read PATH` reads once and writes the planes to a file (`-` for none), `hold` copies and waits
/// for `go` before it checks the lock again, and `torn` prints the number of torn copies.
final class SharedMemoryReader {
    private let process = Process()
    private let commands = Pipe()
    private let answers = Pipe()
    private var unread = Data()

    private static let script = """
        import sys
        sys.path[:0] = sys.argv[2:]
        import reader, timecode
        source = reader.Reader(sys.argv[1])
        def hold():
            print("copied", flush=True)
            sys.stdin.readline()
        def tell(frame, path):
            if not frame: return print("none", flush=True)
            if path != "-": open(path, "wb").write(b"".join(frame["planes"]))
            number, _ = timecode.read(frame["planes"][0], frame["width"], frame["height"])
            size = f"{frame['width']}x{frame['height']}"
            print("frame", frame["number"], frame["sequence"], frame["timestamp"], frame["pts"], size, frame["range"], number, flush=True)
        for line in sys.stdin:
            command, *path = line.split()
            try:
                if command == "torn": print(source.torn, flush=True)
                elif command == "hold": tell(source.read(hold), "-")
                else: tell(source.read(), *path)
            except EOFError: print("ended", flush=True)
        """

    init(_ name: String) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [
            "-B", "-c", Self.script, name,
            BuiltProgram.package.appendingPathComponent("Samples/SharedMemoryReader").path,
            BuiltProgram.package.appendingPathComponent("Tests/Peers").path,
        ]
        process.standardInput = commands
        process.standardOutput = answers
        try process.run()
    }

    /// Sends a line and returns the words of the answer.
    func ask(_ command: String) throws -> [String] {
        try commands.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Data(unread[(end + 1)...])
                return line.split(separator: " ").map(String.init)
            }
            let more = answers.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ReferenceFailure(description: "the reader has ended") }
            unread.append(more)
        }
    }

    func stop() {
        try? commands.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    struct ReferenceFailure: Error, CustomStringConvertible { let description: String }
}
