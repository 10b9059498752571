import CV4L2

/// An event of a device, besides its pictures.
package enum V4L2Event: Sendable, Hashable {
    /// The pictures have another size from now on, or the signal appeared or disappeared.
    case sourceChanged
    case controlChanged(UInt32)
    /// The last picture of a stream was delivered.
    case ended
    /// The device is no longer there.
    case gone
}

// Unsafe: passes pointers to the call that reads events.
extension V4L2Device {
    /// Subscribes to events. A driver without them is not an error.
    package func subscribe(_ type: Int32, id: UInt32 = 0) {
        _ = inlet_v4l2_subscribe(descriptor, UInt32(type), id)
    }

    /// Returns the next pending event, or nil.
    package func nextEvent() -> V4L2Event? {
        var type: UInt32 = 0
        var id: UInt32 = 0
        var changes: UInt32 = 0
        while true {
            switch unsafe inlet_v4l2_dequeue_event(descriptor, &type, &id, &changes) {
            case 0: break
            case ENODEV: return .gone
            default: return nil
            }
            switch Int32(type) {
            case V4L2_EVENT_SOURCE_CHANGE: return .sourceChanged
            case V4L2_EVENT_CTRL: return .controlChanged(id)
            case V4L2_EVENT_EOS: return .ended
            default: continue
            }
        }
    }
}
