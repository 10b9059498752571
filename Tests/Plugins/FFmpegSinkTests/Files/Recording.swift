import FFmpegSink
import Foundation
import InletCore
import ReferenceTools

/// Records pictures by a URI, and reads the file with other programs.
enum Recording {
    static let registry: PluginRegistry = {
        var registry = PluginRegistry(localAccess: LocalAccess { _ in [] })
        registry.register(SinkPlugin.recording)
        registry.register(SinkPlugin.streaming)
        return registry
    }()

    /// Moving pictures with fine detail, drawn by FFmpeg.
    static func pictures(
        _ size: ImageSize = ImageSize(width: 160, height: 120), count: Int = 20
    ) throws -> ReferencePictures {
        // The generator itself rounds odd sizes.
        try ReferencePictures(
            lavfi: "testsrc2=size=320x240:rate=30,scale=\(size.width):\(size.height)", size: size, frames: count)
    }

    /// Times in seconds at a variable rate: 30 pictures a second, every fifth lasting three times as long.
    static func varyingTimes(_ count: Int) -> [Double] {
        var time = 0.0
        return (0..<count).map { index in
            defer { time += (index % 5 == 4 ? 3 : 1) / 30 }
            return time
        }
    }

    static func frame(
        _ picture: I420Buffer, _ index: Int, at seconds: Double, color: ColorSpace = .bt601,
        rotation: Rotation = .none
    ) -> VideoFrame {
        VideoFrame(
            buffer: picture,
            timestamp: MonotonicTime(nanoseconds: 5_000_000_000 + Int64((seconds * 1e9).rounded())),
            sequence: UInt64(index), colorSpace: color, rotation: rotation, sampleAspectRatio: Rational(1))
    }

    static func format(
        _ size: ImageSize, color: ColorSpace = .bt601, rotation: Rotation = .none
    ) -> VideoFormat {
        VideoFormat(
            size: size, timeBase: Rational(1, 90_000), frameRate: Rational(30), colorSpace: color, rotation: rotation,
            sampleAspectRatio: Rational(1))
    }

    /// Writes all pictures, from the sink's start to its end.
    static func write(
        _ pictures: ReferencePictures, to uri: String, times: [Double]? = nil, color: ColorSpace = .bt601,
        rotation: Rotation = .none
    ) throws {
        let times = times ?? (0..<pictures.count).map { Double($0) / 30 }
        let sink = try registry.sink(uri).makeSink()
        try sink.start(format(pictures.size, color: color, rotation: rotation), SinkContext())
        for index in 0..<pictures.count {
            try sink.consume(
                frame(pictures.padded(index), index, at: times[index], color: color, rotation: rotation))
        }
        try sink.finish()
    }

    /// The pictures of a file, decoded by the ffmpeg command.
    static func decoded(_ path: String, size: ImageSize) throws -> ReferencePictures {
        try ReferencePictures(
            ReferenceCommand.ffmpeg([
                "-noautorotate", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-vf",
                "scale=in_range=full:out_range=full", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-",
            ]), size: size)
    }

    /// One value per line, as ffprobe prints them.
    static func probe(_ path: String, _ entries: String, _ more: [String] = []) throws -> [String] {
        let output = try ReferenceCommand.run(
            "ffprobe",
            ["-v", "error", "-select_streams", "v:0"] + more + ["-show_entries", entries, "-of", "csv=p=0", path])
        return String(decoding: output, as: UTF8.self).split(separator: "\n")
            .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ", ")) }.filter { !$0.isEmpty }
    }

    /// The display time of each picture, in seconds.
    static func times(_ path: String) throws -> [Double] {
        try probe(path, "frame=best_effort_timestamp_time").compactMap { Double($0.prefix { $0 != "," }) }
    }

    /// Decibels over all samples of a picture: ffmpeg's psnr filter's average.
    static func decibels(_ left: ReferencePictures, _ right: ReferencePictures, _ index: Int) -> Double {
        let count = left.size.packedI420ByteCount
        let (a, b) = ([UInt8](left.bytes), [UInt8](right.bytes))
        guard a.count >= (index + 1) * count, b.count >= (index + 1) * count else { return 0 }
        var sum = 0
        for position in index * count..<(index + 1) * count {
            let difference = Int(a[position]) - Int(b[position])
            sum += difference * difference
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(count) / Double(sum))
    }
}
