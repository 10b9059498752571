import FFmpegDecoder
import Foundation
import InletCore
import InletDecode
import InletRTP
import Logging
import ReferenceTools
import Testing

@testable import InletTesting
@testable import RTSPSource

/// Interlaced Motion JPEG in RTP, packed here by section 3.1 of RFC 2435 from the fields that ffmpeg encoded.
@Suite(.serialized, .blocking) struct JPEGFieldTests {
    /// The fields of eight frames, with the bottom field first.
    struct Clip {
        /// The packets of each field, without their sequence numbers.
        var fields: [[[UInt8]]]
        /// The MD5 of each frame, as ffmpeg decodes the fields and weaves them.
        var sums: [String]
    }

    private static func clip(in folder: TemporaryFolder) throws -> Clip {
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "16",
            "-vf", "setfield=bff,separatefields", "-c:v", "mjpeg", "-huffman", "default", "-q:v", "4",
            "-pix_fmt", "yuvj420p", folder.path("field%02d.jpg"),
        ])
        let woven = try ReferenceCommand.ffmpeg([
            "-framerate", "50", "-i", folder.path("field%02d.jpg"), "-vf", "weave=first_field=bottom",
            "-fps_mode", "passthrough", "-f", "framemd5", "-",
        ])
        let fields = try (0..<16).map { index in
            let name = folder.path("field\(index < 9 ? "0" : "")\(index + 1).jpg")
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: name)))
            return packets(bytes, content: index % 2 == 0 ? 1 : 2, timestamp: UInt32(index) * 1800)
        }
        return Clip(fields: fields, sums: FrameLines(woven).lines.map(\.md5))
    }

    /// - Parameter content: the type-specific field: 1 for an odd field, 2 for an even one.
    private static func packets(_ file: [UInt8], content: UInt8, timestamp: UInt32) -> [[UInt8]] {
        var (tables, place, size): ([UInt8], Int, (height: UInt8, width: UInt8)) = ([], 2, (0, 0))
        while file[place + 1] != 0xDA {
            let length = Int(file[place + 2]) << 8 | Int(file[place + 3])
            let segment = file[place + 4..<place + 2 + length]
            if file[place + 1] == 0xDB {
                for start in stride(from: segment.startIndex, to: segment.endIndex, by: 65) {
                    tables += segment[start + 1..<start + 65]
                }
            }
            if file[place + 1] == 0xC0 {
                let word = { (index: Int) in
                    Int(segment[segment.startIndex + index]) << 8
                        | Int(segment[segment.startIndex + index + 1])
                }
                size = (UInt8(word(1) / 8), UInt8(word(3) / 8))
            }
            place += 2 + length
        }
        place += 2 + (Int(file[place + 2]) << 8 | Int(file[place + 3]))
        if tables.count == 64 { tables += tables }
        let scan = Array(file[place..<file.count - 2])
        return stride(from: 0, to: scan.count, by: 1000).map { offset in
            let end = min(offset + 1000, scan.count)
            var packet: [UInt8] = [0x80, end == scan.count ? 0x9A : 0x1A, 0, 0]
            packet += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: timestamp >> UInt32($0)) } + [1, 2, 3, 4]
            packet += [content, UInt8(offset >> 16), UInt8(offset >> 8 & 255), UInt8(offset & 255)]
            // Type 1 is 4:2:0; quality 255 has tables in the first packet.
            packet += [1, 255, size.width, size.height]
            if offset == 0 { packet += [0, 0, 0, 128] + tables }
            return packet + scan[offset..<end]
        }
    }

    private final class Sender: FrameSource {
        private let stream = MediaStream(
            .jpeg, RTPReceiver.Settings(), DepacketizerSettings(), requests: [], at: MonotonicTime(nanoseconds: 0),
            hostTime: { 0 })
        private var packets: ArraySlice<[UInt8]?>
        private var number = 0
        private let parameters = CodecParameters(
            codec: .mjpeg, size: ImageSize(width: 0, height: 0), timeBase: Rational(1, 90_000))
        var statistics: DepacketizerStatistics { stream.payloads }

        /// - Parameter packets: nil for those that are lost.
        init(_ packets: [[UInt8]?]) { self.packets = packets[...] }

        func open(_ context: SourceContext) throws -> SourceFormat {
            var format = SourceFormat(
                size: parameters.size, pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live,
                codec: "mjpeg", container: "rtsp")
            format.packetStream = PacketStream(parameters)
            return format
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            while !stream.hasUnit {
                guard let next = packets.popFirst() else {
                    stream.end()
                    if stream.hasUnit { break }
                    return nil
                }
                let time = MonotonicTime(nanoseconds: Int64(number) * 5_000_000)
                if var packet = next {
                    (packet[2], packet[3]) = (UInt8(number >> 8), UInt8(number & 255))
                    unsafe stream.take(packet.span.bytes, at: time, hasMore: false)
                }
                number += 1
                stream.idle(at: time + .seconds(1))
            }
            return stream.takeUnit().map { .packet(SourcePacket($0, parameters, isStart: true)) }
        }

        func close() {}
    }

    private static func play(
        _ packets: [[UInt8]?]
    ) throws -> (frames: [SourceFrame], statistics: DepacketizerStatistics) {
        let sender = Sender(packets)
        var settings = DecodingSettings([.ffmpeg])
        settings.maximumLag = nil
        let source = DecodingSource(sender, settings)
        let context = SourceContext(clock: ManualClock(), logger: LogRecord().logger)
        _ = try source.open(context)
        var frames: [SourceFrame] = []
        while let frame = try source.next(context)?.frame { frames.append(frame) }
        source.close()
        return (frames, sender.statistics)
    }

    @Test("Two fields become one picture with the rows of both, which states their order")
    func joined() throws {
        let folder = try TemporaryFolder()
        let clip = try Self.clip(in: folder)
        let (frames, statistics) = try Self.play(clip.fields.joined().map { $0 })
        #expect(frames.count == 8 && clip.sums.count == 8)
        #expect(frames.map { SourceRun.sum(of: $0) } == clip.sums)
        #expect(frames.allSatisfy { $0.size == ImageSize(width: 320, height: 240) && $0.fieldOrder == .bottomFirst })
        #expect(frames.map { $0.pts?.ticks } == (0..<8).map { Int64($0) * 3600 })
        #expect(statistics.droppedUnits == 0)
    }

    @Test("A frame with a lost field is dropped and counted, and never has a field of another", arguments: 0..<6)
    func lost(_ kind: Int) throws {
        let folder = try TemporaryFolder()
        let clip = try Self.clip(in: folder)
        var fields = clip.fields.map { $0.map { Optional($0) } }
        func lose(_ field: Int) { fields[field] = fields[field].map { _ in nil } }
        var whole = Array(0..<8)
        switch kind {
        case 0: lose(4)
        case 1: lose(5)
        case 2: fields[4][0] = nil
        case 3: fields[5][fields[5].count - 1] = nil
        // The second field of a frame and the first one of the next.
        case 4:
            lose(5)
            lose(6)
        // The stream begins with the second field of a frame.
        default: fields.removeFirst()
        }
        whole.removeAll { $0 == (kind == 5 ? 0 : 2) || kind == 4 && $0 == 3 }
        let (frames, statistics) = try Self.play(fields.flatMap { $0 })
        #expect(frames.map { SourceRun.sum(of: $0) } == whole.map { clip.sums[$0] })
        #expect(statistics.droppedUnits == 1)
    }

    @Test("A stream changes between fields and whole pictures")
    func changes() throws {
        let folder = try TemporaryFolder()
        let clip = try Self.clip(in: folder)
        // The same pictures, as if they were whole ones of half the height.
        let whole = clip.fields[4..<6].map { packets in packets.map { $0[..<12] + [0] + $0[13...] } }
        let fields = Array(clip.fields[..<4]) + whole.map { $0.map { Array($0) } } + Array(clip.fields[6...])
        let (frames, _) = try Self.play(fields.joined().map { $0 })
        #expect(frames.map(\.size.height) == [240, 240, 120, 120, 240, 240, 240, 240, 240])
        #expect(frames.map { $0.fieldOrder == .progressive } == (0..<9).map { $0 == 2 || $0 == 3 })
    }
}
