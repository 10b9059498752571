/// The resources that the process of a plug-in may use, beyond its own memory and the system's libraries.
public struct PluginPermissions: Sendable, Hashable {
    /// Whether it may open connections. The default is false.
    public var network: Bool
    /// Whether it may use the devices below `/dev`. The default is false.
    public var devices: Bool
    /// The absolute paths of files and folders that it may read and write. Empty by default.
    public var files: [String]

    public init(network: Bool = false, devices: Bool = false, files: [String] = []) {
        self.network = network
        self.devices = devices
        self.files = files
    }
}
