public import Foundation

/// The lines of a framemd5 file, without its header.
public struct FrameLines: Equatable {
    /// PTS, size in bytes and MD5 sum of one picture.
    public struct Line: Equatable {
        public var pts: String
        public var size: String
        public var md5: String
    }

    public var lines: [Line]
    /// The header's time base.
    public var timeBase: String?

    public init(_ data: Data) {
        lines = []
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("#tb 0: ") { timeBase = String(line.dropFirst(7)) }
            guard !line.hasPrefix("#") else { continue }
            let fields = line.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            guard fields.count >= 6 else { continue }
            lines.append(Line(pts: fields[2], size: fields[4], md5: fields[5]))
        }
    }

    /// Returns the lines that the ffmpeg command prints for a file's first video stream.
    public static func ffmpeg(_ path: String, pixelFormat: String = "yuv420p") throws -> FrameLines {
        FrameLines(
            try ReferenceCommand.ffmpeg([
                "-noautorotate", "-copyts", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base",
                "-1",
                "-pix_fmt", pixelFormat, "-f", "framemd5", "-",
            ]))
    }
}
