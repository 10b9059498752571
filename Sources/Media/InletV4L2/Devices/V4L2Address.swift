import InletCore

/// Identifies a device.
public enum V4L2Address: Sendable, Hashable {
    /// The first device, in the order of node numbers.
    case first
    /// The device at this node or at a link to it, of any kind: `/dev/video2`.
    case node(String)
    /// The device with this link in `/dev/v4l/by-id`, or this serial number.
    case id(String)
    /// The device with this link in `/dev/v4l/by-path`, or at this place as the driver names it, such as
    /// `usb-0000:00:14.0-2`.
    case path(String)
    /// The device whose name contains this text, ignoring case.
    case name(String)
    /// The device that was seen before, wherever it is now.
    case identity(V4L2Identity)

    /// Returns whether the address matches a device.
    func matches(_ device: V4L2DeviceInfo) -> Bool {
        let identity = device.identity
        switch self {
        case .first: return true
        case .node(let node): return device.node == node
        case .id(let text):
            let name = Self.lastPart(of: text)
            return identity.id == name || identity.serial == name
        case .path(let text): return identity.path == Self.lastPart(of: text) || identity.bus == text
        case .name(let text): return identity.name.lowercasedASCII.containsBytes(text.lowercasedASCII)
        case .identity(let wanted): return identity.isSameDevice(as: wanted)
        }
    }

    private static func lastPart(of path: String) -> String {
        path.split(atByte: "/", keepsEmpty: false).last.map(String.init) ?? path
    }
}

extension V4L2Address: CustomStringConvertible {
    /// A readable form of the address.
    public var description: String {
        switch self {
        case .first: "the first one"
        case .node(let node): node
        case .id(let text): "the one with the identity '\(text)'"
        case .path(let text): "the one at '\(text)'"
        case .name(let text): "the one named '\(text)'"
        case .identity(let identity): "\(identity.name) at \(identity.bus)"
        }
    }
}
