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

    @Test("Parameter sets that stand before a key frame are found", arguments: ["h264", "hevc"])
    func parameterSets(_ codec: String) throws {
        let encoder = codec == "h264" ? "libx264" : "libx265"
        let bytes = try picture(
            ImageSize(width: 64, height: 48), ["-c:v", encoder, "-x265-params", "log-level=none", "-f", codec])
        let found = try #require(PacketInspection.parameterSets(in: try packet(bytes), VideoCodec(rawValue: codec)))
        #expect(!found.isEmpty && Array(found.prefix(3)).allSatisfy { $0 <= 1 })
        // They are what stands in the stream.
        #expect(bytes.count > found.count)
        #expect(PacketInspection.parameterSets(in: try packet([1, 2, 3, 4]), VideoCodec(rawValue: codec)) == nil)
        #expect(PacketInspection.parameterSets(in: try packet(bytes), .mjpeg) == nil)
    }
}
