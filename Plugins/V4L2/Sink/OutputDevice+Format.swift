import CV4L2
import InletCore
import InletV4L2

extension OutputDevice {
    /// Sets a supported format for which the driver's buffers hold the pictures.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the driver accepts none.
    static func setFormat(
        _ device: V4L2Device, _ type: UInt32, _ video: VideoFormat, _ wanted: V4L2SinkConfiguration.Format
    ) throws(InletError) -> inlet_v4l2_format {
        // The multi-planar API is for separate planes.
        let planar: [InletV4L2.FourCC] = inlet_v4l2_is_multiplanar(type) == 0 ? ["YU12"] : ["YM12", "YU12"]
        let codes: [InletV4L2.FourCC] =
            switch wanted {
            case .automatic: planar + ["YUYV", "MJPG"]
            case .yu12: planar
            case .yuyv: ["YUYV"]
            case .mjpeg: ["MJPG"]
            }
        for code in codes {
            var format = inlet_v4l2_format()
            format.width = UInt32(clamping: video.size.width)
            format.height = UInt32(clamping: video.size.height)
            format.pixelformat = code.rawValue
            format.field = V4L2_FIELD_NONE.rawValue
            setColors(of: &format, video.colorSpace)
            do throws(InletError) {
                let set = try device.setFormat(format, type: type)
                if set.pixelformat == code.rawValue, Int(set.width) == video.size.width,
                    Int(set.height) == video.size.height, holds(set, video.size)
                {
                    return set
                }
            } catch {
                guard error.code == .unsupported else { throw error }
            }
        }
        throw InletError(
            .unsupported,
            """
            \(device.node) does not accept \(video.size) pictures as \(codes.map(\.description).joined(separator: " or ")). A loopback device keeps \
            the format of its first user until all users have closed it, and accepts odd widths only as MJPEG. Scale the pictures with --size to fit a fixed format.
            """)
    }

    /// Returns whether rows are as long as the picture's. They are not if a loopback cuts off the last chroma sample
    /// of an odd width.
    private static func holds(_ format: inlet_v4l2_format, _ size: ImageSize) -> Bool {
        let stride = Int(format.bytesperline.0)
        switch InletV4L2.FourCC(rawValue: format.pixelformat) {
        case "MJPG": return true
        case "YUYV": return stride >= 4 * size.chroma.width
        case "YM12": return stride >= size.width && Int(format.bytesperline.1) >= size.chroma.width
        default: return stride >= size.width && stride / 2 >= size.chroma.width
        }
    }

    static func isJPEG(_ format: inlet_v4l2_format) -> Bool {
        InletV4L2.FourCC(rawValue: format.pixelformat) == "MJPG"
    }

    private static func setColors(of format: inout inlet_v4l2_format, _ colors: ColorSpace) {
        // The defaults of this colour space are those of JPEG: BT.601 in full range.
        if isJPEG(format) { return format.colorspace = V4L2_COLORSPACE_JPEG.rawValue }
        format.colorspace =
            (colors.matrix == .bt709 ? V4L2_COLORSPACE_REC709 : V4L2_COLORSPACE_SMPTE170M).rawValue
        switch colors.range {
        case .full: format.quantization = V4L2_QUANTIZATION_FULL_RANGE.rawValue
        case .limited: format.quantization = V4L2_QUANTIZATION_LIM_RANGE.rawValue
        case .unspecified: break
        }
    }
}
