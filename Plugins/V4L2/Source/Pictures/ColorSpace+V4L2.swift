import CV4L2
import InletCore

extension ColorSpace {
    /// Creates the colour space that a driver reports. Omitted values get the defaults of V4L2: the
    /// `V4L2_MAP_*_DEFAULT` macros of `linux/videodev2.h`.
    init(v4l2 format: inlet_v4l2_format, isRGB: Bool) {
        let space = format.colorspace
        self.init(
            primaries: Self.primaries(space),
            transfer: Self.transfer(format.xfer_func != 0 ? format.xfer_func : Self.defaultTransfer(space)),
            matrix: Self.matrix(format.ycbcr_enc != 0 ? format.ycbcr_enc : Self.defaultEncoding(space)),
            range: Self.range(format.quantization, space, isRGB: isRGB))
    }

    // V4L2_COLORSPACE_*: 1 SMPTE170M, 2 240M, 3 REC709, 5 470_SYSTEM_M, 6 470_SYSTEM_BG, 7 JPEG, 8 SRGB, 9 OPRGB, 10
    // BT2020, 11 RAW, 12 DCI_P3.
    private static func primaries(_ space: UInt32) -> ColorPrimaries {
        switch space {
        case 1: .smpte170m
        case 2: ColorPrimaries(rawValue: 7)
        case 3, 7, 8: .bt709
        case 5: ColorPrimaries(rawValue: 4)
        case 6: .bt470bg
        case 10: .bt2020
        case 12: ColorPrimaries(rawValue: 11)
        default: .unspecified
        }
    }

    private static func defaultTransfer(_ space: UInt32) -> UInt32 {
        switch space {
        case 0, 11: 0
        case 2: 4
        case 7, 8: 2
        case 9: 3
        case 12: 6
        default: 1
        }
    }

    // V4L2_XFER_FUNC_*: 1 709, 2 SRGB, 3 OPRGB, 4 SMPTE240M, 5 NONE, 6 DCI_P3, 7 SMPTE2084.
    private static func transfer(_ function: UInt32) -> TransferCharacteristics {
        switch function {
        case 1: .bt709
        case 2: TransferCharacteristics(rawValue: 13)
        case 4: TransferCharacteristics(rawValue: 7)
        case 5: TransferCharacteristics(rawValue: 8)
        case 7: TransferCharacteristics(rawValue: 16)
        default: .unspecified
        }
    }

    private static func defaultEncoding(_ space: UInt32) -> UInt32 {
        switch space {
        case 0, 11: 0
        case 3, 12: 2
        case 10: 6
        case 2: 8
        default: 1
        }
    }

    // V4L2_YCBCR_ENC_*: 1 601, 2 709, 3 XV601, 4 XV709, 6 BT2020, 7 BT2020_CONST_LUM, 8 SMPTE240M.
    private static func matrix(_ encoding: UInt32) -> ColorMatrix {
        switch encoding {
        case 1, 3: .smpte170m
        case 2, 4: .bt709
        case 6: .bt2020
        case 7: ColorMatrix(rawValue: 10)
        case 8: .smpte240m
        default: .unspecified
        }
    }

    // V4L2_QUANTIZATION_*: 1 full, 2 limited. By default RGB and JPEG are full, everything else is limited.
    private static func range(_ quantization: UInt32, _ space: UInt32, isRGB: Bool) -> ColorRange {
        switch quantization {
        case 1: .full
        case 2: .limited
        default: space == 0 ? .unspecified : isRGB || space == 7 ? .full : .limited
        }
    }
}
