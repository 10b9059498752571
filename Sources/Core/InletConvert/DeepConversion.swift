import CInletConvert
import CYUV
import InletCore

// Unsafe: passes planes to the C functions that reduce samples to eight bits.
/// Converts samples of more than eight bits to I420 with an ordered dither. libyuv's functions drop the lower bits,
/// which darkens the picture and shows bands, and those of libswscale take ten times as long.
@safe struct DeepConversion: Sendable {
    private var samples: inlet_deep_samples
    private var halvesColumns: Bool
    private var halvesRows: Bool
    private var chroma: Chroma

    enum Chroma: Sendable {
        case planar
        /// Both components alternate in one plane.
        case interleaved
        /// No chroma: the picture is grey.
        case absent
    }

    /// - Parameters:
    ///   - depth: the bits of a sample, from 9 to 16. If there are more than twelve, the lowest are dropped, because
    ///     they are less than the dither.
    ///   - unused: the number of the 16 bits that are below the sample.
    init(
        depth: Int32, unused: Int32 = 0, _ chroma: Chroma = .planar, halvesColumns: Bool = false,
        halvesRows: Bool = false
    ) {
        let excess = max(0, depth - 12)
        samples = inlet_deep_samples(drop: unused + excess, depth: depth - excess)
        self.chroma = chroma
        self.halvesColumns = halvesColumns
        self.halvesRows = halvesRows
    }

    /// The formats of little-endian samples by their names, some of which not every libavutil version knows.
    static let byFormat: [PixelFormat: DeepConversion] = {
        var formats: [PixelFormat: DeepConversion] = [:]
        #if _endian(little)
        for depth: Int32 in [9, 10, 12, 14, 16] {
            for (layout, columns, rows) in [
                ("420p", false, false), ("422p", false, true), ("440p", true, false), ("444p", true, true),
            ] {
                let conversion = DeepConversion(depth: depth, halvesColumns: columns, halvesRows: rows)
                formats[PixelFormat("yuv\(layout)\(depth)le")] = conversion
                formats[PixelFormat("yuva\(layout)\(depth)le")] = conversion
            }
            formats[PixelFormat("gray\(depth)le")] = DeepConversion(depth: depth, .absent)
        }
        for (suffix, depth) in [("10le", Int32(10)), ("12le", 12), ("16le", 16)] {
            let unused = 16 - depth
            formats[PixelFormat("p0\(suffix)")] = DeepConversion(depth: depth, unused: unused, .interleaved)
            formats[PixelFormat("p2\(suffix)")] = DeepConversion(
                depth: depth, unused: unused, .interleaved, halvesRows: true)
        }
        #endif
        return formats
    }()

    /// Converts a frame whose planes have been checked against its format.
    func convert(_ frame: SourceFrame, range: ColorRange, into target: I420Target) {
        let size = frame.size
        guard let luma = frame.planes[0] else { return }
        unsafe inlet_reduce(
            plane(luma, size, into: target.y, target.yStride), samples, 0, 0, range == .full ? 1 : 0)
        let chromaSize = ImageSize(
            width: halvesColumns ? size.width : size.chroma.width, height: halvesRows ? size.height : size.chroma.height
        )
        switch chroma {
        case .planar:
            guard let u = frame.planes[1], let v = frame.planes[2] else { return }
            unsafe inlet_reduce(
                plane(u, chromaSize, into: target.u, target.uStride), samples, halvesColumns ? 1 : 0,
                halvesRows ? 1 : 0, 0)
            unsafe inlet_reduce(
                plane(v, chromaSize, into: target.v, target.vStride), samples, halvesColumns ? 1 : 0,
                halvesRows ? 1 : 0, 0)
        case .interleaved:
            guard let pairs = frame.planes[1] else { return }
            unsafe inlet_reduce_pairs(
                plane(pairs, chromaSize, into: target.u, target.uStride), target.v, samples, halvesRows ? 1 : 0)
        case .absent:
            let (width, height) = (Int32(size.chroma.width), Int32(size.chroma.height))
            unsafe SetPlane(target.u, target.uStride, width, height, 128)
            unsafe SetPlane(target.v, target.vStride, width, height, 128)
        }
    }

    private func plane(
        _ plane: SourcePlane, _ size: ImageSize, into target: UnsafeMutablePointer<UInt8>, _ stride: Int32
    ) -> inlet_deep_plane {
        unsafe inlet_deep_plane(
            source: plane.topRow, source_stride: plane.stride, width: Int32(size.width), height: Int32(size.height),
            target: target, target_stride: Int(stride))
    }
}
