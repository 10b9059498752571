import FFmpegSource
import Foundation
import InletCore
import InletDigest
import ReferenceTools
import Testing

@testable import InletTesting

/// Copies of files whose parameter sets change in mid-stream.
@Suite(.tags(.encoder), .blocking) struct ParameterSetTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func part(_ name: String, _ options: [String], size: String = "160x120") throws -> String {
        let path = folder.path(name)
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30", "-frames:v", "15", "-pix_fmt", "yuv420p"]
                + ["-c:v", "libx264"] + options + [path])
        return path
    }

    /// The pictures that ffmpeg decodes from files, scaled to one size.
    private func decoded(_ paths: [String]) throws -> Data {
        try paths.reduce(into: Data()) { all, path in
            all += try ReferenceCommand.ffmpeg([
                "-i", path, "-fps_mode", "passthrough", "-vf", "scale=160:120:flags=bitexact", "-pix_fmt", "yuv420p",
                "-f", "rawvideo", "-",
            ])
        }
    }

    private func copies() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("")).filter { $0.hasPrefix("copy") }.sorted()
            .map { folder.path($0) }
    }

    private func copy(_ source: String) throws {
        let inlet = try InletProcess.run([
            "run", source, "--to", "mp4:\(folder.path("copy-{n}.mp4"))?codec=copy", "--report", "none",
        ])
        #expect(inlet.status == 0, "\(inlet.complaints)")
    }

    /// Appends an FLV file to another with a time offset in milliseconds: tags have a header of 11 bytes and a trailing
    /// length (Adobe Flash Video File Format Specification 10.1, E.4.1).
    private func joined(_ first: Data, _ second: Data, later: Int) -> Data {
        var joined = first
        var rest = second.dropFirst(13)
        while rest.count > 15 {
            var tag = [UInt8](rest.prefix(11))
            let count = 15 + (Int(tag[1]) << 16 | Int(tag[2]) << 8 | Int(tag[3]))
            let time = (Int(tag[7]) << 24 | Int(tag[4]) << 16 | Int(tag[5]) << 8 | Int(tag[6])) + later
            (tag[4], tag[5], tag[6]) = (UInt8(time >> 16 & 255), UInt8(time >> 8 & 255), UInt8(time & 255))
            // The script tag describes only the second part.
            if tag[0] == 9 { joined += Data(tag) + rest.dropFirst(11).prefix(count - 11) }
            rest = rest.dropFirst(count)
        }
        return joined
    }

    @Test(
        "An FLV sequence header in mid-stream applies to what follows", arguments: ["160x120", "320x240"])
    func flv(_ size: String) throws {
        let first = try part("a.flv", ["-x264-params", "ref=1:cabac=0:8x8dct=0:bframes=0"])
        let second = try part(
            "b.flv", ["-x264-params", "ref=4:cabac=1:8x8dct=1:bframes=0", "-profile:v", "high"], size: size)
        let source = folder.path("source.flv")
        let parts = try [first, second].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        try joined(parts[0], parts[1], later: 600).write(to: URL(fileURLWithPath: source))
        try copy(source)
        #expect(try decoded(copies()).isSame(as: decoded([first, second])))
    }

    @Test("An RTMP sequence header sent while no sink takes packets applies to sinks added later")
    func withoutDemand() async throws {
        let first = try part("a.flv", ["-x264-params", "ref=1:cabac=0:8x8dct=0:bframes=0"])
        let second = try part(
            "b.flv", ["-x264-params", "ref=4:cabac=1:8x8dct=1:bframes=0:keyint=5:scenecut=0"], size: "320x240")
        let source = folder.path("source.flv")
        let parts = try [first, second].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        try joined(parts[0], parts[1], later: 600).write(to: URL(fileURLWithPath: source))
        var options = FFmpegSender.Options(.rtmp)
        options.file = source
        let sender = try FFmpegSender(options)
        defer { sender.stop() }
        let runner = SourceRunner(FFmpegNetworkConfiguration(url: sender.url), limit: .seconds(20))
        guard case .returned = await runner.open() else {
            Issue.record("It was not opened: \(sender.process.log)")
            return
        }
        var demand = SourceDemand.everything
        demand.packets = false
        runner.context.setDemand(demand)
        var last: SourcePacket?
        while case .returned(let item?) = await runner.next() {
            last = item.packet ?? last
            // The sink is added during the second part.
            if let frame = item.frame, frame.size.width == 320, !demand.packets {
                demand.packets = true
                runner.context.setDemand(demand)
            }
        }
        _ = await runner.close()
        // The second part, as ffprobe reads it.
        let output = try ReferenceCommand.run(
            "ffprobe",
            [
                "-v", "error", "-show_entries", "stream=extradata_hash", "-show_data_hash", "MD5", "-of", "csv=p=0",
                second,
            ])
        let parameters = try #require(last?.parameters)
        #expect(parameters.size == ImageSize(width: 320, height: 240))
        let sum = MessageDigest.md5.hash(parameters.extraData).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(String(decoding: output, as: UTF8.self).contains(sum.joined()))
    }

    @Test("A transport stream in a file whose size changes becomes one file for each size")
    func transportStream() throws {
        let first = try part("a.ts", ["-x264-params", "bframes=0"])
        let second = try part(
            "b.ts", ["-x264-params", "bframes=0", "-output_ts_offset", "0.5"], size: "320x240")
        let source = folder.path("source.ts")
        let parts = try [first, second].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        try (parts[0] + parts[1]).write(to: URL(fileURLWithPath: source))
        try copy(source)
        let sizes = try copies().map { path in
            let output = try ReferenceCommand.run(
                "ffprobe", ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", path])
            return String(decoding: output, as: UTF8.self).split(separator: "\n").first.map(String.init)
        }
        #expect(sizes == ["160,120", "320,240"])
        #expect(try decoded(copies()).isSame(as: decoded([first, second])))
    }
}
