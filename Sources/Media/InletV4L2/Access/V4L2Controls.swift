import CV4L2
public import InletCore

/// The controls of one camera, which can also be used while a program streams from it.
///
/// Safe from any thread. It is valid until the device is unplugged; after that, create a new one.
public final class V4L2Controls: Sendable {
    private let device: V4L2Device

    /// Opens the device.
    ///
    /// - Throws: the error of the address, or ``InletError/Code/permissionDenied``.
    public convenience init(_ address: V4L2Address) throws(InletError) {
        self.init(try V4L2Device(node: V4L2Devices.find(address).node))
    }

    package init(_ device: V4L2Device) { self.device = device }

    /// The node that the device was opened by.
    public var node: String { device.node }

    /// Returns every control with its value, in the kernel's order.
    public func list() -> [V4L2Control] { device.controls() }

    /// Returns a control by its name.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``, with the nearest name, if the control does not exist.
    public func control(_ name: String) throws(InletError) -> V4L2Control {
        let all = list()
        // Kernels before 5.11 use another name for it.
        let names = name == V4L2Control.exposurePriority ? [name, "exposure_auto_priority"] : [name]
        if let found = all.first(where: { names.contains($0.name) }) { return found }
        let nearest = Spelling.nearest(to: name, among: all.map(\.name))
        throw InletError(
            .invalidConfiguration,
            """
            The camera has no control '\(name)'. \(nearest.map { "Did you mean '\($0)'?" } ?? "`inlet controls` lists them.")
            """)
    }

    /// Sets a control to a value as a user writes it.
    ///
    /// - Returns: the control as it is afterwards; a driver may round.
    /// - Throws: ``InletError/Code/invalidConfiguration`` for an unknown name or an invalid value;
    ///   ``InletError/Code/permissionDenied`` for a control that is locked.
    @discardableResult public func set(_ name: String, to text: String) throws(InletError) -> V4L2Control {
        let control = try control(name)
        do throws(InletError) {
            try device.set(control, to: control.parse(text))
        } catch {
            guard error.code == .busy || control.flags.contains(.grabbed) else { throw error }
            throw InletError(
                .busy, "The control \(name) cannot be set while the camera streams. Stop the stream first.",
                cause: error, context: error.context)
        }
        return device.control(id: control.id) ?? control
    }

    /// Sets several controls in the given order, as `name=value` separated by commas.
    ///
    /// - Throws: as ``set(_:to:)``; the preceding ones stay set.
    public func set(_ list: String) throws(InletError) {
        for item in list.split(atByte: ",", keepsEmpty: false) {
            let pair = item.split(atByte: "=", limit: 1)
            guard pair.count == 2 else {
                throw InletError(
                    .invalidConfiguration, "'\(item)' does not set a control. Write name=value, separated by commas.")
            }
            try set(String(pair[0]), to: String(pair[1]))
        }
    }
}
