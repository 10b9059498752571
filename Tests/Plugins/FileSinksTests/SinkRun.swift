import Foundation
import InletCore
import ReferenceTools

/// Passes pictures to a sink as a delivery queue does.
enum SinkRun {
    static func format(
        _ size: ImageSize, rate: Rational? = Rational(30000, 1001), timeBase: Rational = Rational(1001, 30000),
        range: ColorRange = .limited, aspect: Rational? = Rational(1)
    ) -> VideoFormat {
        VideoFormat(
            size: size, timeBase: timeBase, frameRate: rate,
            colorSpace: ColorSpace(primaries: .bt709, transfer: .bt709, matrix: .bt709, range: range),
            sampleAspectRatio: aspect)
    }

    /// A frame with the PTS `index` and a duration of one tick.
    static func frame(_ picture: I420Buffer, _ index: Int, timeBase: Rational = Rational(1001, 30000)) -> VideoFrame {
        VideoFrame(
            buffer: picture, timestamp: MonotonicTime(nanoseconds: Int64(clamping: index &* 33_366_666)),
            pts: MediaTime(ticks: Int64(index), timeBase: timeBase), duration: MediaTime(ticks: 1, timeBase: timeBase),
            sequence: UInt64(clamping: index), colorSpace: .bt709, sampleAspectRatio: Rational(1))
    }

    /// A grey picture.
    static func gray(_ size: ImageSize, level: UInt8 = 99) throws -> I420Buffer {
        var draft = try I420Draft(size: size)
        draft.fill(y: level, u: 128, v: 128)
        return draft.publish()
    }

    /// Writes pictures to a sink from its start to its end.
    static func write(
        _ pictures: [I420Buffer], to configuration: any FrameSinkConfiguration, format: VideoFormat
    ) throws {
        let sink = configuration.makeSink()
        try sink.start(format, SinkContext())
        for (index, picture) in pictures.enumerated() {
            try sink.consume(frame(picture, index, timeBase: format.timeBase))
        }
        try sink.finish()
    }

    static func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}
