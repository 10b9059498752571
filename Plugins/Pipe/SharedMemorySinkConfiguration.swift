public import InletCore

/// Frames in shared memory, for programs that process pixels: `shm:camera`.
///
/// `Docs/reference/shared-memory.md` describes the layout. Readers never block the writer, and can detect that a frame
/// was overwritten while they read it. A picture larger than the first continues in a new segment of the same name.
public struct SharedMemorySinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The name in `/dev/shm`, without a slash.
    public var name: String
    /// The number of frames that stay readable, from 2 to 64. To copy a frame, a reader has the time of all slots but
    /// one. The default is 4.
    public var slots: Int
    /// The users who may read in addition to the current one. The default is ``Readers/user``: no others.
    public var readers: Readers

    /// The users who may read.
    public enum Readers: String, Sendable, Hashable, ChoiceOptionValue {
        /// Only the current user.
        case user
        /// The current user's group as well.
        case group
        /// Everyone on this machine.
        case all

        var mode: UInt32 {
            switch self {
            case .user: 0o600
            case .group: 0o640
            case .all: 0o644
            }
        }
    }

    public init(name: String, slots: Int = 4, readers: Readers = .user) {
        self.name = name
        self.slots = slots
        self.readers = readers
    }

    /// The sink's URI.
    public var redactedURI: String { "shm:\(name)" }

    /// Returns a sink with this configuration. Creates nothing yet.
    public func makeSink() -> any FrameSink { SharedMemorySink(self) }

    static let slotCounts = 2...64
}

extension SinkPlugin {
    /// The plug-in for `shm:NAME`.
    public static let sharedMemory = SinkPlugin(
        PluginInfo(
            name: "SharedMemorySink", schemes: ["shm"],
            summary: "Keeps the latest pictures in shared memory for programs that process pixels.", usage: "shm:NAME",
            options: [SharedMemoryOptions.slots.description, SharedMemoryOptions.readers.description],
            examples: ["shm:camera", "shm:camera?slots=8&readers=group"])
    ) { uri, values in
        guard !uri.rest.isEmpty, uri.rest.utf8.count < 250, uri.rest != ".", uri.rest != "..",
            uri.rest.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 < 0x7f })
        else {
            throw InletError(
                .invalidConfiguration, "Use a name without slashes or spaces, such as shm:camera.")
        }
        return SharedMemorySinkConfiguration(
            name: uri.rest, slots: values[SharedMemoryOptions.slots], readers: values[SharedMemoryOptions.readers])
    }
}

private enum SharedMemoryOptions {
    private static let defaults = SharedMemorySinkConfiguration(name: "")
    static let slots = PluginOption(
        "slots", default: defaults.slots, in: SharedMemorySinkConfiguration.slotCounts, "Frames that stay readable")
    static let readers = PluginOption(
        "readers", default: defaults.readers, "The users who may read")
}
