public import InletCore

/// Frames in shared memory, for programs that process pixels: `shm:camera`.
///
/// `Docs/reference/shared-memory.md` describes the memory. Readers never block the writer: a reader can tell that a
/// frame was overwritten while it was read. A picture larger than the first continues in a new segment of the same
/// name.
public struct SharedMemorySinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The name in `/dev/shm`, without a slash.
    public var name: String
    /// How many frames stay readable, from 2 to 64. A reader has the time of all but one of them for its copy. The
    /// default is 4.
    public var slots: Int
    /// Who may read, besides this user. The default is ``Readers/user``: nobody.
    public var readers: Readers

    /// Who may read.
    public enum Readers: String, Sendable, Hashable, ChoiceOptionValue {
        /// This user alone.
        case user
        /// This user's group, too.
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
            summary: "Keeps the newest pictures in shared memory for programs that look at pixels.", usage: "shm:NAME",
            options: [SharedMemoryOptions.slots.description, SharedMemoryOptions.readers.description],
            examples: ["shm:camera", "shm:camera?slots=8&readers=group"])
    ) { uri, values in
        guard !uri.rest.isEmpty, uri.rest.utf8.count < 250, uri.rest != ".", uri.rest != "..",
            uri.rest.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 < 0x7f })
        else {
            throw InletError(
                .invalidConfiguration, "A name without slashes and spaces is needed, such as shm:camera.")
        }
        return SharedMemorySinkConfiguration(
            name: uri.rest, slots: values[SharedMemoryOptions.slots], readers: values[SharedMemoryOptions.readers])
    }
}

private enum SharedMemoryOptions {
    private static let defaults = SharedMemorySinkConfiguration(name: "")
    static let slots = PluginOption(
        "slots", default: defaults.slots, in: SharedMemorySinkConfiguration.slotCounts, "How many frames stay readable")
    static let readers = PluginOption(
        "readers", default: defaults.readers, "Who may read")
}
