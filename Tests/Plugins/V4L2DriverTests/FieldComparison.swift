import CV4L2
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Compares Inlet's frames made from fields with the `ffmpeg` command's frames made from the fields that `v4l2-ctl`
/// saw.
enum FieldComparison {
    static let size = ImageSize(width: 320, height: 240)

    /// The requested order of fields, as `v4l2-ctl` spells it.
    enum Order: String, CaseIterable, Sendable {
        case alternate, interlaced
        case interlacedTop = "interlaced_tb"
        case interlacedBottom = "interlaced_bt"
        case sequentialTop = "seq_tb"
        case sequentialBottom = "seq_bt"

        var number: UInt32 {
            switch self {
            case .alternate: V4L2_FIELD_ALTERNATE.rawValue
            case .interlaced: V4L2_FIELD_INTERLACED.rawValue
            case .interlacedTop: V4L2_FIELD_INTERLACED_TB.rawValue
            case .interlacedBottom: V4L2_FIELD_INTERLACED_BT.rawValue
            case .sequentialTop: V4L2_FIELD_SEQ_TB.rawValue
            case .sequentialBottom: V4L2_FIELD_SEQ_BT.rawValue
            }
        }

        func fieldOrder(isNTSC: Bool) -> FieldOrder {
            switch self {
            case .alternate, .interlaced: isNTSC ? .bottomFirst : .topFirst
            case .interlacedTop, .sequentialTop: .topFirst
            case .interlacedBottom, .sequentialBottom: .bottomFirst
            }
        }
    }

    /// The captured picture.
    struct Picture: Sendable, CustomTestStringConvertible {
        var format: String
        /// The driver's number of a pattern whose rows differ: 4 is squares, 11 checkers of 2x2, 15 lines.
        var pattern: Int
        var isNTSC: Bool
        /// By ffmpeg's name.
        var pixelFormat: String

        var isMultiplanar: Bool { format.hasPrefix("NM") }
        var testDescription: String { "\(format), pattern \(pattern)" }

        func name(_ order: Order) -> String { "\(order.rawValue)-\(format)-\(pattern)" }
    }

    static let pictures = [
        Picture(format: "YU12", pattern: 4, isNTSC: false, pixelFormat: "yuv420p"),
        Picture(format: "YU12", pattern: 15, isNTSC: true, pixelFormat: "yuv420p"),
        Picture(format: "YUYV", pattern: 11, isNTSC: false, pixelFormat: "yuyv422"),
        Picture(format: "NV16", pattern: 15, isNTSC: false, pixelFormat: "yuv422p"),
        Picture(format: "NM12", pattern: 15, isNTSC: false, pixelFormat: "nv12"),
        Picture(format: "NM16", pattern: 11, isNTSC: true, pixelFormat: "yuv422p"),
    ]

    /// A picture in an order.
    struct Case: Sendable, CustomTestStringConvertible {
        var order: Order
        var picture: Picture

        var testDescription: String { "\(order.rawValue), \(picture.testDescription)" }
    }

    /// Two pictures in each order, and each picture in two orders; in a nightly run all pictures in all orders.
    static let cases: [Case] = Order.allCases.enumerated().flatMap { index, order in
        let chosen = VirtualMachine.sizes == nil ? [pictures[index], pictures[(index + 3) % pictures.count]] : pictures
        return chosen.map { Case(order: order, picture: $0) }
    }

    /// Checks every pair of files in the folder.
    static func check(_ folder: String) throws {
        for each in cases {
            let (order, picture) = (each.order, each.picture)
            let path = "\(folder)/\(picture.name(order))"
            let actual = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + ".woven")))
            let expected = [UInt8](try reference(path + ".fields", order, picture))
            let quality = PictureComparison.psnr(comparable(actual, picture), comparable(expected, picture))
            let isExact = picture.pixelFormat == "yuv420p" || picture.pixelFormat == "nv12"
            #expect(quality >= (isExact ? .infinity : 45), "\(picture.name(order)): \(quality) dB")
        }
    }

    /// Blackens the first row of each plane of a picture in I420 if the driver puts random values there, which it does
    /// with 625 lines, as if it were wide screen signalling.
    private static func comparable(_ picture: [UInt8], _ kind: Picture) -> [UInt8] {
        guard !kind.isNTSC else { return picture }
        var picture = picture
        let pixels = size.pixelCount
        for (start, count) in [(0, size.width), (pixels, size.width / 2), (pixels * 5 / 4, size.width / 2)] {
            for index in start..<min(start + count, picture.count) { picture[index] = 0 }
        }
        return picture
    }

    /// Separates the samples of chroma of pictures of 4:2:2, because ffmpeg does not read formats with one plane for
    /// both.
    private static func separateChroma(_ bytes: [UInt8], pixels: Int) -> [UInt8] {
        stride(from: 0, to: bytes.count, by: 2 * pixels).flatMap { start in
            let chroma = bytes[start + pixels..<min(start + 2 * pixels, bytes.count)]
            return bytes[start..<start + pixels]
                + [0, 1].flatMap { first in
                    stride(from: chroma.startIndex + first, to: chroma.endIndex, by: 2).map { chroma[$0] }
                }
        }
    }

    /// The frames that ffmpeg's filters `weave` and `il` make from the fields.
    private static func reference(_ file: String, _ order: Order, _ picture: Picture) throws -> Data {
        let filter: String
        var size = size
        switch order {
        case .alternate:
            size.height /= 2
            filter = "weave=first_field=\(picture.isNTSC ? "bottom" : "top")"
        case .interlaced, .interlacedTop, .interlacedBottom: filter = "null"
        case .sequentialTop: filter = "il=luma_mode=interleave:chroma_mode=interleave"
        case .sequentialBottom:
            filter = "il=luma_mode=interleave:chroma_mode=interleave:luma_swap=1:chroma_swap=1"
        }
        if picture.pixelFormat == "yuv422p" {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
            try Data(separateChroma(bytes, pixels: size.pixelCount)).write(to: URL(fileURLWithPath: file))
        }
        let planar = ["yuv422p", "yuyv422"].contains(picture.pixelFormat) ? "yuv422p" : "yuv420p"
        return try ReferenceCommand.ffmpeg([
            "-f", "rawvideo", "-pixel_format", picture.pixelFormat, "-video_size", "\(size)", "-i", file,
            "-vf", "format=\(planar),\(filter)", "-frames:v", "1", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-",
        ])
    }
}
