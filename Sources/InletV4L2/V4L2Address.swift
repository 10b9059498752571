import InletCore

/// Which device somebody means.
public enum V4L2Address: Sendable, Hashable {
    /// The first one, in the order of the nodes' numbers.
    case first
    /// The one at this node or at a link to it, whatever it is: `/dev/video2`.
    case node(String)
    /// The one with this link in `/dev/v4l/by-id`, or this serial number.
    case id(String)
    /// The one with this link in `/dev/v4l/by-path`, or at this place in the driver's words, such as
    /// `usb-0000:00:14.0-2`.
    case path(String)
    /// The one whose name holds this text, in whatever case.
    case name(String)
    /// The one that was seen before, wherever it is now.
    case identity(V4L2Identity)

    /// Whether a device is meant.
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
    /// What a person would call it.
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
