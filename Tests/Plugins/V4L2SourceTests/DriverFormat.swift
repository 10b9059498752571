import CV4L2
import InletV4L2

/// A format as a driver would report it.
func inletFormat(
    _ code: FourCC, _ width: UInt32, _ height: UInt32, _ strides: [UInt32], _ sizes: [UInt32]
) -> inlet_v4l2_format {
    var format = inlet_v4l2_format()
    format.width = width
    format.height = height
    format.pixelformat = code.rawValue
    format.planes = UInt32(strides.count)
    format.bytesperline.0 = strides[0]
    format.sizeimage.0 = sizes[0]
    if strides.count > 1 {
        format.bytesperline.1 = strides[1]
        format.sizeimage.1 = sizes[1]
    }
    return format
}
