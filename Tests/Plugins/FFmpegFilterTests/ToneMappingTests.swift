import Foundation
import InletCore
import ReferenceTools
import Testing

@testable import FFmpegFilter

/// Pictures of high dynamic range that a source makes itself, compared with the ffmpeg command.
@Suite(.blocking) struct ToneMappingTests {
    private func picture(_ size: ImageSize, _ colors: ColorSpace) throws -> (ReferencePictures, SourceFrame) {
        let pictures = try ReferencePictures(lavfi: "testsrc2=size=\(size)", size: size, frames: 1)
        return (pictures, SourceFrame(try pictures.padded(0), pts: nil, sequence: 3, colorSpace: colors))
    }

    private func expected(_ size: ImageSize, _ transfer: String, range: String = "limited") throws -> Data {
        try ReferencePictures(
            lavfi: """
                testsrc2=size=\(size),format=yuv420p,setparams=color_trc=\(transfer):color_primaries=bt2020:\
                colorspace=bt2020nc:range=\(range),zscale=transfer=linear:npl=100,format=gbrpf32le,\
                zscale=primaries=bt709,tonemap=tonemap=hable:desat=0:peak=10,\
                zscale=transfer=bt709:matrix=bt709:range=limited,format=yuv420p
                """, size: size, frames: 1
        ).bytes
    }

    private func bytes(_ frame: SourceFrame) throws -> Data {
        var data = Data()
        for index in 0..<3 {
            let plane = try #require(frame.planes[index])
            let part = index == 0 || frame.pixelFormat == .yuv444p ? frame.size : frame.size.chroma
            try #require(plane.holds(rows: part.height, of: part.width))
            guard let top = unsafe plane.topRow else { continue }
            for row in 0..<part.height { unsafe data.append(top + row * plane.stride, count: part.width) }
        }
        return data
    }

    @Test(
        "A picture that states only its transfer characteristics has the other colours of BT.2100",
        arguments: [(TransferCharacteristics.pq, "smpte2084"), (.hlg, "arib-std-b67")])
    func unstated(transfer: TransferCharacteristics, name: String) throws {
        let size = ImageSize(width: 96, height: 64)
        let filter = try FilterPlugin.ffmpeg.makeFilter(.toneMapping)
        let (source, frame) = try picture(
            size, ColorSpace(primaries: .unspecified, transfer: transfer, matrix: .unspecified, range: .unspecified))
        let made = try filter.filtered(frame, previous: nil, next: nil)
        #expect(made.colorSpace == .bt709 && made.sequence == 3 && made.size == size)
        #expect(try bytes(made).isSame(as: expected(size, name)))
        #expect(try !bytes(made).isSame(as: source.bytes))
    }

    @Test("Size and range may change at any picture")
    func changes() throws {
        let filter = try FilterPlugin.ffmpeg.makeFilter(.toneMapping)
        let sizes = [ImageSize(width: 102, height: 76), ImageSize(width: 96, height: 64)]
        for size in sizes + sizes {
            for (range, name) in [(ColorRange.limited, "limited"), (.full, "full")] {
                let colors = ColorSpace(primaries: .bt2020, transfer: .pq, matrix: .bt2020, range: range)
                let made = try filter.filtered(picture(size, colors).1, previous: nil, next: nil)
                #expect(try bytes(made).isSame(as: expected(size, "smpte2084", range: name)))
            }
        }
    }

    @Test("Pictures of odd size keep it", arguments: [(101, 76), (102, 75), (101, 75)])
    func odd(width: Int, height: Int) throws {
        let size = ImageSize(width: width, height: height)
        let source = "testsrc2=size=102x76,format=yuv444p,crop=\(width):\(height):exact=1,format=yuv420p"
        let pictures = try ReferencePictures(lavfi: source, size: size, frames: 1)
        let colors = ColorSpace(primaries: .bt2020, transfer: .pq, matrix: .bt2020, range: .limited)
        let frame = SourceFrame(try pictures.padded(0), pts: nil, sequence: 0, colorSpace: colors)
        let made = try FilterPlugin.ffmpeg.makeFilter(.toneMapping).filtered(frame, previous: nil, next: nil)
        #expect(made.size == size && made.pixelFormat == .yuv444p)
        let expected = try ReferenceCommand.ffmpeg(
            [
                "-f", "lavfi", "-i",
                """
                \(source),setparams=color_trc=smpte2084:color_primaries=bt2020:colorspace=bt2020nc:range=limited,\
                format=yuv444p12le,zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=bt709,\
                tonemap=tonemap=hable:desat=0:peak=10,zscale=transfer=bt709:matrix=bt709:range=limited,format=yuv444p
                """, "-frames:v", "1", "-f", "rawvideo", "-",
            ])
        #expect(try bytes(made).isSame(as: expected))
    }

    @Test("An interlaced picture of high dynamic range is deinterlaced first")
    func both() throws {
        let size = ImageSize(width: 96, height: 64)
        let colors = ColorSpace(primaries: .bt2020, transfer: .pq, matrix: .bt2020, range: .limited)
        var (_, frame) = try picture(size, colors)
        frame.fieldOrder = .topFirst
        let whole = try FilterPlugin.ffmpeg.makeFilter(.deinterlacing).filtered(frame, previous: nil, next: nil)
        let expected = try FilterPlugin.ffmpeg.makeFilter(.toneMapping).filtered(whole, previous: nil, next: nil)
        let made = try FilterPlugin.ffmpeg.makeFilter(.all).filtered(frame, previous: nil, next: nil)
        #expect(made.fieldOrder == .progressive && made.colorSpace == .bt709)
        #expect(try bytes(made).isSame(as: bytes(expected)))
    }
}
