import CFFmpeg
import Foundation
import InletCore
import ReferenceTools
import Testing

@testable import InletFFmpeg

@Suite(.blocking) struct PacketInspectionTests {
    private func packet(_ bytes: [UInt8]) throws -> FFmpegPacket {
        let packet = try FFmpegPacket()
        try #require(unsafe av_new_packet(packet.pointer, Int32(bytes.count)) == 0)
        unsafe packet.pointer.pointee.data.update(from: bytes, count: bytes.count)
        return packet
    }

    private func picture(_ size: ImageSize, _ options: [String]) throws -> [UInt8] {
        let data = try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc=size=\(size)", "-frames:v", "1"] + options + ["-"])
        return [UInt8](data)
    }

    @Test("Parameter sets before a key frame are found", arguments: ["h264", "hevc"])
    func parameterSets(_ codec: String) throws {
        let encoder = codec == "h264" ? "libx264" : "libx265"
        let bytes = try picture(
            ImageSize(width: 64, height: 48), ["-c:v", encoder, "-x265-params", "log-level=none", "-f", codec])
        let found = try #require(PacketInspection.parameterSets(in: try packet(bytes), VideoCodec(rawValue: codec)))
        #expect(!found.isEmpty && Array(found.prefix(3)).allSatisfy { $0 <= 1 })
        // They are those in the stream.
        #expect(bytes.count > found.count)
        #expect(PacketInspection.parameterSets(in: try packet([1, 2, 3, 4]), VideoCodec(rawValue: codec)) == nil)
        #expect(PacketInspection.parameterSets(in: try packet(bytes), .mjpeg) == nil)
    }

    private func parameters(_ codec: String, _ size: ImageSize, _ sets: [UInt8]) -> CodecParameters {
        CodecParameters(codec: VideoCodec(rawValue: codec), size: size, timeBase: Rational(1, 90_000), extraData: sets)
    }

    /// A key frame with its parameter sets before it, and those by themselves.
    private func keyFrame(_ codec: String, _ size: ImageSize, _ option: String) throws -> (
        bytes: [UInt8], sets: [UInt8]
    ) {
        let bytes = try picture(
            size,
            ["-c:v", codec == "h264" ? "libx264" : "libx265", "-\(codec == "h264" ? "x264" : "x265")-params"]
                + [codec == "h264" ? option : "\(option):log-level=none:info=0", "-f", codec])
        return try (bytes, #require(PacketInspection.parameterSets(in: packet(bytes), VideoCodec(rawValue: codec))))
    }

    /// The NAL units of a stream with start codes.
    private func units(_ bytes: [UInt8]) -> [[UInt8]] {
        let starts = bytes.indices.filter { bytes[$0...].starts(with: [0, 0, 1]) }
        return zip(starts, starts.dropFirst() + [bytes.count]).map { start, end in
            var unit = bytes[(start + 3)..<end]
            while unit.last == 0 { unit.removeLast() }
            return Array(unit)
        }
    }

    @Test("More parameter sets than any stream needs are refused, in linear time")
    func manySets() throws {
        let size = ImageSize(width: 64, height: 48)
        let frame = try keyFrame("h264", size, "ref=1")
        var sets: [UInt8] = []
        for number in 0..<5000 { sets += [0, 0, 1, 0x68] + (0..<4).map { UInt8(number >> (6 * $0) & 63 | 64) } }
        let known = parameters("h264", size, frame.sets)
        let found = PacketInspection.updated(known, by: try packet(sets + frame.bytes), maximumPixels: 1_000_000)
        #expect(found.extraData == frame.sets)
        #expect(ParameterSets(parameters("h264", size, sets)) == nil)
    }

    @Test("A new size in packets with length fields keeps the record that describes these")
    func newSizeWithLengths() throws {
        let (small, large) = (ImageSize(width: 64, height: 48), ImageSize(width: 128, height: 96))
        let old = try units(keyFrame("h264", small, "ref=1").sets)
        func withLength(_ unit: [UInt8]) -> [UInt8] { [UInt8(unit.count >> 8), UInt8(unit.count & 0xFF)] + unit }
        try #require(old.count == 2)
        // An avcC record: ISO/IEC 14496-15, 5.3.3.1.2.
        let record = [1] + old[0][1...3] + [0xFF, 0xE1] + withLength(old[0]) + [1] + withLength(old[1])
        var bytes: [UInt8] = []
        for unit in try units(keyFrame("h264", large, "ref=1").bytes) { bytes += [0, 0] + withLength(unit) }
        let found = PacketInspection.updated(
            parameters("h264", small, record), by: try packet(bytes), maximumPixels: 1_000_000)
        #expect(found.size == large)
        #expect(found.extraData == record)
    }

    @Test(
        "Parameter sets before a key frame replace the known ones, and repeated ones change nothing",
        arguments: [
            ("h264", "ref=1", "ref=3"), ("hevc", "sao=0", "sao=1"),
        ])
    func newSets(_ codec: String, _ first: String, _ second: String) throws {
        let size = ImageSize(width: 64, height: 48)
        let (old, new) = try (keyFrame(codec, size, first), keyFrame(codec, size, second))
        try #require(old.sets != new.sets)
        let known = parameters(codec, size, old.sets)
        #expect(PacketInspection.updated(known, by: try packet(old.bytes), maximumPixels: 1 << 20) == known)
        let found = PacketInspection.updated(known, by: try packet(new.bytes), maximumPixels: 1 << 20)
        #expect(ParameterSets(found) == ParameterSets(parameters(codec, size, new.sets)))
        #expect(found.size == size)
        let large = try keyFrame(codec, ImageSize(width: 128, height: 96), first)
        let other = PacketInspection.updated(known, by: try packet(large.bytes), maximumPixels: 1 << 20)
        #expect(other.size == ImageSize(width: 128, height: 96))
        #expect(ParameterSets(other) == ParameterSets(parameters(codec, size, large.sets)))
    }

    @Test("Parameters from the container of a packet replace the known ones")
    func statedSets() throws {
        let size = ImageSize(width: 64, height: 48)
        let (old, new) = try (keyFrame("h264", size, "ref=1"), keyFrame("h264", size, "ref=3"))
        let packet = try packet(old.bytes)
        packet.newExtraData = new.sets
        let found = PacketInspection.updated(
            parameters("h264", size, old.sets), by: packet, maximumPixels: 1 << 20)
        #expect(found.extraData == new.sets)
        var follower = ParameterFollower(parameters("h264", size, old.sets))
        #expect(follower.follow(try EncodedPacketStorage(sharing: packet).data)?.extraData == new.sets)
        #expect(follower.follow(PacketData(old.bytes)) != nil)
    }

    @Test("Complete records are read, and truncated ones are not", arguments: ["h264", "hevc"])
    func records(_ codec: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.mp4")
        let size = ImageSize(width: 64, height: 48)
        let raw = try keyFrame(codec, size, codec == "h264" ? "ref=1" : "sao=0")
        try Data(raw.bytes).write(to: URL(fileURLWithPath: folder.path("a.\(codec)")))
        try ReferenceCommand.ffmpeg(["-i", folder.path("a.\(codec)"), "-c", "copy", path])
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        let name = try #require(file.range(of: Data((codec == "h264" ? "avcC" : "hvcC").utf8)))
        let length = file[name.lowerBound - 4..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        let record = [UInt8](file[name.upperBound..<name.lowerBound - 4 + length])
        let read = try #require(ParameterSets(parameters(codec, size, record)))
        #expect(read.lengthSize == 4)
        #expect(read.byteStream == ParameterSets(parameters(codec, size, raw.sets))?.byteStream)
        // Every prefix is parsed without a trap. Bytes after the sets may be missing.
        let prefixes = (0..<record.count).map { ParameterSets(parameters(codec, size, Array(record.prefix($0)))) }
        #expect(prefixes.prefix(20).allSatisfy { $0 == nil })
        #expect(prefixes.allSatisfy { $0 == nil || $0 == read })
    }
}
