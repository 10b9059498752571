import Foundation
import InletCore
import ReferenceTools

/// JPEGs from other programs, and these programs' decodings.
enum JPEGSamples {
    /// Colours, shapes and noise, cropped from a larger picture, because few filters support odd sizes.
    private static func picture(_ size: ImageSize) -> [String] {
        let graph = "testsrc2=size=1280x720,noise=alls=12,format=rgb24,crop=\(size.width):\(size.height):0:0:exact=1"
        return ["-f", "lavfi", "-i", graph, "-frames:v", "1"]
    }

    private static func ppm(_ size: ImageSize) throws -> Data {
        try ReferenceCommand.ffmpeg(picture(size) + ["-f", "image2pipe", "-c:v", "ppm", "-"])
    }

    /// A picture as encoded by libjpeg-turbo's own program.
    static func cjpeg(_ size: ImageSize, _ arguments: [String]) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = folder.path("a.ppm")
        try ppm(size).write(to: URL(fileURLWithPath: path))
        return [UInt8](try ReferenceCommand.run("cjpeg", ["-quality", "90"] + arguments + [path]))
    }

    /// A picture as encoded by libavcodec.
    static func ffmpeg(_ size: ImageSize, _ pixelFormat: String) throws -> [UInt8] {
        [UInt8](
            try ReferenceCommand.ffmpeg(
                picture(size) + ["-pix_fmt", pixelFormat, "-q:v", "3", "-f", "mjpeg", "-"]))
    }

    /// The planes that ffmpeg decodes, without padding.
    static func planes(of bytes: [UInt8], as pixelFormat: String) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = folder.path("a.jpg")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return [UInt8](
            try ReferenceCommand.ffmpeg([
                "-f", "mjpeg", "-i", path, "-pix_fmt", pixelFormat, "-f", "rawvideo", "-",
            ]))
    }

    /// The luma that libjpeg-turbo's own program decodes with the accurate integer transform.
    static func luma(of bytes: [UInt8], _ size: ImageSize) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = folder.path("a.jpg")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let pgm = [UInt8](try ReferenceCommand.run("djpeg", ["-dct", "int", "-grayscale", path]))
        return Array(pgm.suffix(size.width * size.height))
    }
}

extension SourceFrame {
    /// The rows of all planes without padding. Each chroma plane is narrower by a factor of `1 << x` and lower by `1 <<
    /// y`.
    func packed(chroma shifts: (x: Int, y: Int)) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<planes.count {
            guard let plane = planes[index] else { continue }
            let (x, y) = index == 0 ? (0, 0) : shifts
            let (width, height) = ((size.width + (1 << x) - 1) >> x, (size.height + (1 << y) - 1) >> y)
            guard plane.holds(rows: height, of: width) else { return [] }
            let memory = unsafe plane.bytesFromTop
            for row in 0..<height {
                unsafe bytes.append(contentsOf: memory[row * plane.stride..<row * plane.stride + width])
            }
        }
        return bytes
    }
}
