import Foundation
import InletCore
import InletDecode
import InletTesting
import Logging
import ReferenceTools
import Testing

@testable import FFmpegSource

/// Containers with a number at the limit of its type: they give frames or an error, and never trap.
@Suite(.blocking) struct ExtremeContainersTests {
    @Test(
        "A container with each number in turn at the limit of its type is decoded or refused",
        arguments: [
            ("mp4", ["-c:v", "mjpeg", "-movflags", "faststart"]), ("avi", ["-c:v", "mjpeg"]),
            ("nut", ["-c:v", "mjpeg"]), ("flv", ["-c:v", "flv"]),
        ] as [(String, [String])])
    func patched(_ kind: String, _ encoder: [String]) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("clip.\(kind)")
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=32x32:rate=5:duration=1"] + encoder + [path])
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try frames(path) == 5)
        var delivered = 0
        // Numbers of MP4 and AVI are at multiples of four bytes; those of the others anywhere.
        for place in stride(from: 0, to: min(whole.count - 4, 640), by: kind == "mp4" || kind == "avi" ? 4 : 3) {
            for pattern in [[0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0]] as [[UInt8]] {
                var bytes = whole
                bytes.replaceSubrange(place..<place + 4, with: pattern)
                try bytes.write(to: URL(fileURLWithPath: path))
                delivered += try frames(path)
            }
        }
        #expect(delivered > 100, "\(delivered) frames")
    }

    @Test("The header of a raw stream with impossible rates and shapes is read or refused")
    func rawHeader() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("odd.y4m")
        let numbers = ["0:0", "0:1", "1:0", "1:2147483647", "2147483647:1", "-25:1", "4294967295:4294967295"]
        var delivered = 0
        for rate in numbers {
            for shape in numbers {
                let header = "YUV4MPEG2 W16 H16 F\(rate) A\(shape) Ip C420jpeg\n"
                let frame = Data("FRAME\n".utf8) + Data(repeating: 128, count: 384)
                try (Data(header.utf8) + frame + frame).write(to: URL(fileURLWithPath: path))
                delivered += try frames(path)
            }
        }
        #expect(delivered > 0)
    }

    /// Returns the number of frames, at most 20, because an odd number may promise more than there are. A run must end
    /// with an `InletError` or without an error.
    private func frames(_ path: String) throws -> Int {
        var configuration = FFmpegFileConfiguration(path: path)
        configuration.threads = 1
        configuration.start = .zero
        let source = configuration.makeSource()
        defer { source.close() }
        let context = SourceContext(clock: ManualClock(waiting: .movesTime), logger: Logger(label: "test"))
        var count = 0
        do {
            let format = try source.open(context)
            #expect(format.timeBase > Rational(0))
            #expect(format.frameRate.map { $0 > Rational(0) } ?? true)
            while count < 20, try source.next(context) != nil { count += 1 }
        } catch let error as InletError {
            #expect(error.code != .internal, "\(error)")
        }
        return count
    }
}
