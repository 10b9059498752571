import Foundation
import InletCore
import NIOCore
import ReferenceTools
import Testing

@testable import InletServe

/// A camera whose parameter sets change back and forth.
@Suite(.tags(.encoder), .blocking) struct ChangedSetsTests {
    private let folder: TemporaryFolder
    private var parameters: [CodecParameters] = []
    private var packets: [EncodedPacket] = []

    /// Encodes four times ten pictures, with two kinds of parameter sets before the key frames.
    init() throws {
        folder = try TemporaryFolder()
        for part in 0..<4 {
            let path = folder.path("\(part).h264")
            try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=10", "-frames:v", "10", "-pix_fmt", "yuv420p",
                "-c:v", "libx264", "-x264-params", "level=3.0:bframes=0:ref=\(part % 2 == 0 ? 1 : 3)", path,
            ])
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            let sizes = try ReferenceCommand.run(
                "ffprobe", ["-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", path])
            var place = 0
            for line in String(decoding: sizes, as: UTF8.self).split(separator: "\n") {
                let count = try #require(Int(line.prefix { $0.isNumber }))
                let time = MediaTime(ticks: Int64(packets.count) * 9000, timeBase: Rational(1, 90_000))
                packets.append(
                    EncodedPacket(
                        data: PacketData(Array(bytes[place..<place + count])), pts: time, dts: time,
                        duration: MediaTime(ticks: 9000, timeBase: Rational(1, 90_000)), isKey: place == 0,
                        captureTime: MonotonicTime(nanoseconds: time.nanoseconds), wallClock: time.nanoseconds))
                place += count
            }
            // The sets precede the slice of the first packet, and a message that the encoder writes.
            let first = Data(bytes.prefix(1000))
            let end = try #require(first.range(of: Data([0, 0, 1, 6]))).lowerBound
            var own = CodecParameters(
                codec: .h264, size: ImageSize(width: 160, height: 120), timeBase: Rational(1, 90_000))
            own.extraData = [UInt8](first.prefix(end))
            parameters.append(own)
        }
    }

    /// The pictures that ffmpeg decodes.
    private func decoded(_ path: String) throws -> Data {
        try ReferenceCommand.ffmpeg([
            "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-",
        ])
    }

    private func reference(_ parts: Range<Int>) throws -> Data {
        try parts.reduce(into: Data()) { try $0 += decoded(folder.path("\($1).h264")) }
    }

    @Test("A stream of fragments continues, and a later client gets a beginning that permits the change")
    func fragments() throws {
        try #require(parameters[0].extraData != parameters[1].extraData)
        var beginnings: [Data] = []
        var fragments: [(bytes: Data, isKey: Bool)] = []
        let sink = FragmentSink { piece in
            switch piece {
            case .beginning(let bytes): beginnings.append(Data(bytes.readableBytesView))
            case .fragment(let bytes, let isKey, _): fragments.append((Data(bytes.readableBytesView), isKey))
            }
        }
        for (index, packet) in packets.enumerated() {
            if index % 10 == 0 { try sink.start(parameters[index / 10]) }
            try sink.write(packet)
        }
        // The last packet waits for the next one.
        var last = packets[30]
        last.pts = MediaTime(ticks: 360_000, timeBase: Rational(1, 90_000))
        last.dts = last.pts
        last.captureTime = MonotonicTime(nanoseconds: last.pts.nanoseconds)
        try sink.write(last)
        try #require(beginnings.count == 2)
        #expect(beginnings[0].range(of: Data("avc1".utf8)) != nil && beginnings[1].range(of: Data("avc3".utf8)) != nil)
        let path = folder.path("whole.mp4")
        try (beginnings[0] + fragments.flatMap(\.bytes)).write(to: URL(fileURLWithPath: path))
        #expect(try decoded(path).isSame(as: reference(0..<4)))
        let keys = fragments.indices.filter { fragments[$0].isKey }
        try #require(keys.count == 4)
        let late = folder.path("late.mp4")
        try (beginnings[1] + fragments[keys[3]...].flatMap(\.bytes)).write(to: URL(fileURLWithPath: late))
        #expect(try decoded(late).isSame(as: reference(3..<4)))
    }

    @Test("A camera's history holds packets of all its parameter sets, each with its own sets before it")
    func history() throws {
        let hub = PacketHub(.init(duration: .seconds(60), bytes: 1 << 20))
        // The source reports only the first sets; the key frames have the others.
        hub.start(parameters[0])
        for packet in packets { hub.write(packet) }
        let items = hub.items()
        #expect(items.count == 44)
        let starts = items.enumerated().compactMap { index, item in
            if case .start(let parameters) = item { (index, parameters.extraData) } else { nil }
        }
        #expect(starts.map(\.0) == [0, 11, 22, 33])
        #expect(starts.map(\.1) == parameters.map(\.extraData))
        var other = parameters[0]
        other.size = ImageSize(width: 320, height: 240)
        hub.start(other)
        #expect(hub.items().count == 1)
    }
}

extension PacketHub {
    /// The items with which a job begins.
    fileprivate func items() -> [PacketJob.Item] {
        var found: [PacketJob.Item] = []
        attach { items in
            found = items
            return PacketJob(items)
        }
        return found
    }
}
