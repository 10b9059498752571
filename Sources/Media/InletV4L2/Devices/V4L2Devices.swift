public import InletCore

/// Finds the cameras of this machine, and other video devices.
public enum V4L2Devices {
    /// The use of a device.
    public enum Role: String, Sendable, Hashable {
        /// The device captures pictures. Nodes for metadata, codecs or radio do not.
        case capture
        /// The device outputs pictures.
        case output
    }

    /// Returns the present devices, in the order of node numbers. A device that cannot be opened is included, with its
    /// trouble.
    ///
    /// - Parameters:
    ///   - role: cameras, or devices that output pictures. The default is cameras.
    ///   - formats: whether to query formats, which takes some drivers a tenth of a second. The default is true.
    public static func list(_ role: Role = .capture, formats: Bool = true) -> [V4L2DeviceInfo] {
        let links = (id: links(in: "/dev/v4l/by-id"), path: links(in: "/dev/v4l/by-path"))
        return SystemFiles.names(in: "/dev").compactMap { name -> (Int, String)? in
            guard name.hasBytePrefix("video"), let number = TextBytes.number(name.utf8.dropFirst(5)) else { return nil }
            return (number, "/dev/\(name)")
        }
        .sorted { $0.0 < $1.0 }
        .compactMap { look(at: $0.1, role, formats: formats, ids: links.id, paths: links.path) }
    }

    /// Returns the one device that an address identifies.
    ///
    /// - Throws: ``InletError/Code/notFound`` if no device matches; ``InletError/Code/invalidConfiguration`` if several
    ///   match, with their names.
    public static func find(_ address: V4L2Address, _ role: Role = .capture) throws(InletError) -> V4L2DeviceInfo {
        if case .node(let node) = address {
            // A node or a link to one is not checked here. Errors are reported when it is opened.
            let resolved = SystemFiles.resolved(node) ?? node
            return list(role, formats: false).first { $0.node == resolved }
                ?? V4L2DeviceInfo(node: node, identity: V4L2Identity(name: node, bus: node))
        }
        return try choose(address, from: list(role, formats: false), role, withoutNode: withoutNode)
    }

    /// The names and numbers of devices that the kernel has, but for which `/dev` has no node, as in a container whose
    /// nodes were made before a camera was plugged in.
    private static var withoutNode: [String] {
        let folder = "/sys/class/video4linux"
        let nodes = Set(SystemFiles.names(in: "/dev").compactMap { SystemFiles.deviceNumber(of: "/dev/\($0)") })
        return SystemFiles.names(in: folder).sorted().compactMap { name in
            // Further nodes of a camera hold metadata.
            guard let number = SystemFiles.text(of: "\(folder)/\(name)/dev"), !nodes.contains(number),
                SystemFiles.text(of: "\(folder)/\(name)/index") == "0"
            else { return nil }
            return "\(SystemFiles.text(of: "\(folder)/\(name)/name") ?? name) (\(number))"
        }
    }

    /// Returns the one device of a list that an address identifies.
    ///
    /// - Parameter withoutNode: devices that cannot be opened because they have no node.
    static func choose(
        _ address: V4L2Address, from devices: [V4L2DeviceInfo], _ role: Role,
        withoutNode: @autoclosure () -> [String] = []
    ) throws(InletError) -> V4L2DeviceInfo {
        let matching = devices.filter(address.matches)
        // The first usable device. If no device is usable, the first one, whose error is then reported.
        if case .first = address, let device = matching.first(where: { $0.trouble == nil }) ?? matching.first {
            return device
        }
        if matching.count == 1 { return matching[0] }
        let kind = role == .capture ? "camera" : "output device"
        guard !matching.isEmpty else {
            let known =
                devices.isEmpty
                ? "This machine has none. Plug one in, or pass it to the container."
                : "The devices are \(devices.map { "\($0.identity.name) (\($0.node))" }.joined(separator: ", "))."
            let hidden = withoutNode()
            let advice =
                hidden.isEmpty
                ? ""
                : """
                 The kernel also has \(hidden.joined(separator: ", ")), without a node in /dev: in a container, mount \
                /dev instead of passing single nodes (--volume /dev:/dev --device-cgroup-rule='c 81:* rmw').
                """
            throw InletError(.notFound, "No \(kind) is \(address). \(known)\(advice)")
        }
        throw InletError(
            .invalidConfiguration,
            """
            \(matching.count) devices are \(address): \
            \(matching.map { "\($0.node) (\($0.identity.name) at \($0.identity.bus))" }.joined(separator: " and ")). \
            Name one by its node, ?id= or ?path=.
            """)
    }

    /// Returns the device at a node, or nil if it does not have the role.
    private static func look(
        at node: String, _ role: Role, formats: Bool, ids: [String: String], paths: [String: String]
    ) -> V4L2DeviceInfo? {
        let facts = SystemFacts(node: node)
        var info = V4L2DeviceInfo(
            node: node,
            identity: V4L2Identity(
                name: facts.name ?? node, bus: facts.place ?? "", index: facts.index, id: ids[node] ?? facts.id,
                path: paths[node], serial: facts.serial))
        do throws(InletError) {
            let device = try V4L2Device(node: node)
            info.identity.name = device.name
            info.identity.bus = device.bus
            info.driver = device.driver
            info.driverVersion = device.driverVersion
            info.capabilities = device.capabilities
            guard role == .capture ? device.capabilities.isCapture : device.capabilities.isOutput else { return nil }
            if formats, let type = role == .capture ? device.captureType : device.outputType {
                info.formats = device.formats(type: type)
            }
            return info
        } catch {
            // The device was unplugged meanwhile, or is of another kind. The second node of a webcam holds metadata.
            guard error.code == .permissionDenied || error.code == .busy, facts.index == 0 else { return nil }
            info.trouble = error.message
            return info
        }
    }

    /// Returns the names of the links in a folder, by the nodes they lead to.
    private static func links(in folder: String) -> [String: String] {
        var links: [String: String] = [:]
        for name in SystemFiles.names(in: folder) {
            if let node = SystemFiles.resolved("\(folder)/\(name)") { links[node] = name }
        }
        return links
    }
}

/// The facts in `/sys` about a node, which need not be opened.
private struct SystemFacts {
    var name: String?
    /// The device's place in `/sys/devices`.
    var place: String?
    var index: Int
    var serial: String?
    /// The name that udev's rules would give its link, if it is a USB device.
    var id: String?

    init(node: String) {
        // A node's name in a container may differ from the kernel's.
        let number = SystemFiles.deviceNumber(of: node)
        let folder =
            number.map { "/sys/dev/char/\($0)" }
            ?? "/sys/class/video4linux/\(node.split(atByte: "/", keepsEmpty: false).last ?? "")"
        name = SystemFiles.text(of: "\(folder)/name")
        index = SystemFiles.text(of: "\(folder)/index").flatMap { Int($0) } ?? 0
        guard let device = SystemFiles.resolved("\(folder)/device") else { return }
        place = device.hasBytePrefix("/sys/devices/") ? String(Substring(device.utf8.dropFirst(13))) : device
        // The device is an interface of a USB device, whose folder is the parent folder.
        let parent = device.split(atByte: "/", keepsEmpty: false).dropLast().reduce("") { "\($0)/\($1)" }
        guard SystemFiles.exists("\(parent)/idVendor") else { return }
        let found = SystemFiles.text(of: "\(parent)/serial")
        serial = found?.isEmpty == false ? found : nil
        // As in udev's 60-persistent-v4l.rules: usb-VENDOR_MODEL_SERIAL-video-indexN.
        let parts = [("manufacturer", "idVendor"), ("product", "idProduct")].map {
            SystemFiles.text(of: "\(parent)/\($0)") ?? SystemFiles.text(of: "\(parent)/\($1)")
        }
        let words = (parts + [serial]).compactMap { $0 }.joined(separator: "_")
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#+-.:=@_")
        id = "usb-\(String(words.map { allowed.contains($0) ? $0 : "_" }))-video-index\(index)"
    }
}
