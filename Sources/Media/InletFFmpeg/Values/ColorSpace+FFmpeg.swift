package import CFFmpeg
package import InletCore

extension ColorSpace {
    /// Creates the colour space that libav* states. Its `AVCOL_*` numbers are the codes of ITU-T H.273.
    package init(
        primaries: AVColorPrimaries, transfer: AVColorTransferCharacteristic, matrix: AVColorSpace, range: AVColorRange,
        pixelFormat: AVPixelFormat
    ) {
        self.init(
            primaries: ColorPrimaries(rawValue: UInt8(clamping: primaries.rawValue)),
            transfer: TransferCharacteristics(rawValue: UInt8(clamping: transfer.rawValue)),
            matrix: ColorMatrix(rawValue: UInt8(clamping: matrix.rawValue)),
            range: Self.range(range, pixelFormat))
    }

    private static func range(_ range: AVColorRange, _ pixelFormat: AVPixelFormat) -> ColorRange {
        switch range {
        case AVCOL_RANGE_MPEG: .limited
        case AVCOL_RANGE_JPEG: .full
        default:
            // The deprecated yuvj formats mean full range by their name.
            switch pixelFormat {
            case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P,
                AV_PIX_FMT_YUVJ411P:
                .full
            default: .unspecified
            }
        }
    }
}
