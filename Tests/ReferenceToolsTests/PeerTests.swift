import Foundation
import InletCore
import InletTesting
import PatternSource
import ReferenceTools
import Testing

/// The test servers, each checked with an independent client. The tests of a suite run one after another, because each
/// runs an encoder and a decoder.
@Suite(.tags(.server)) struct PeerTests {}

/// A program that a test runs to its end.
struct Client {
    /// The exit code; 124 at the time limit.
    var status: Int32
    /// Standard output and standard error together.
    var text: String

    /// Runs a program for at most the given number of seconds.
    static func run(_ program: String, _ arguments: [String], seconds: Int = 20) throws -> Client {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "--kill-after=1", "\(seconds)", program] + arguments
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Client(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
    }

    /// ffmpeg that analyses at most half a second before it begins, instead of five.
    private static let quietly = ["30", "ffmpeg", "-v", "error", "-nostdin", "-analyzeduration", "500000"]

    /// The MD5 sums of the pictures that ffmpeg reads, without their times.
    static func sums(_ url: String, _ options: [String] = [], frames: Int? = nil) throws -> [String] {
        let limit = frames.map { ["-frames:v", "\($0)"] } ?? []
        let output = try ReferenceCommand.run(
            "timeout",
            quietly + options + [
                "-i", url, "-map", "0:v:0", "-fps_mode", "passthrough",
            ]
                + limit + ["-f", "framemd5", "-"])
        return FrameLines(output).lines.map(\.md5)
    }

    /// The numbers in the timecode pictures that ffmpeg reads; nil for a picture that cannot be read.
    static func numbers(_ url: String, _ options: [String] = [], frames: Int = 15) throws -> [UInt32?] {
        let output = try ReferenceCommand.run(
            "timeout",
            quietly + options + [
                "-i", url, "-map", "0:v:0", "-fps_mode", "passthrough", "-frames:v", "\(frames)", "-pix_fmt", "yuv420p",
                "-f", "rawvideo", "-",
            ])
        return try numbers(in: output)
    }

    /// The numbers in timecode pictures of 640x480, I420 without padding; nil for a picture that cannot be read.
    static func numbers(in output: Data) throws -> [UInt32?] {
        let pictures = ReferencePictures(output, size: ImageSize(width: 640, height: 480))
        return try (0..<pictures.count).map { try TimecodeReader.read(pictures.padded($0))?.frame }
    }
}

/// Expects pictures that are all readable, each newer than the one before.
func expectTimecode(_ numbers: [UInt32?], count: Int = 15, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(numbers.count == count, sourceLocation: sourceLocation)
    let readable = numbers.compactMap(\.self)
    #expect(readable.count == numbers.count, "\(numbers)", sourceLocation: sourceLocation)
    #expect(zip(readable, readable.dropFirst()).allSatisfy(<), "\(readable)", sourceLocation: sourceLocation)
}
