import CV4L2
import InletCore
import InletV4L2

/// The layout of a frame's fields in a driver's buffers: `enum v4l2_field` of `linux/videodev2.h`, described in
/// `Documentation/userspace-api/media/v4l/field-order.rst`.
enum CaptureFields: Sendable, Hashable {
    /// A buffer holds a picture, row after row.
    case whole(FieldOrder)
    /// A buffer holds all rows of the older field, then all rows of the other.
    case sequential(FieldOrder)
    /// A buffer holds one field.
    case alternating

    /// - Parameter has525Lines: whether the input has a television standard of 525 lines, which determines the order
    ///   if the driver does not state it.
    init(v4l2 format: inlet_v4l2_format, has525Lines: Bool) {
        let isWoven =
            switch CaptureLayout.table[FourCC(rawValue: format.pixelformat)] {
            case .pixels, .repacked: true
            // Fields are compressed separately, or in blocks.
            case .compressed, .vendor, nil: false
            }
        switch v4l2_field(rawValue: format.field) {
        case V4L2_FIELD_INTERLACED: self = .whole(Self.order(has525Lines: has525Lines))
        case V4L2_FIELD_INTERLACED_TB: self = .whole(.topFirst)
        case V4L2_FIELD_INTERLACED_BT: self = .whole(.bottomFirst)
        case V4L2_FIELD_SEQ_TB where isWoven: self = .sequential(.topFirst)
        case V4L2_FIELD_SEQ_BT where isWoven: self = .sequential(.bottomFirst)
        case V4L2_FIELD_ALTERNATE where isWoven: self = .alternating
        default: self = .whole(.progressive)
        }
    }

    /// Returns the field order of a television standard.
    static func order(has525Lines: Bool) -> FieldOrder { has525Lines ? .bottomFirst : .topFirst }
}
