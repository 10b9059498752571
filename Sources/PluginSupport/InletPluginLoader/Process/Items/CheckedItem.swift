import CInletPlugin
import InletCore
import InletSystem

/// A picture or packet as a plug-in stated it, after all its values were checked.
struct CheckedItem: Equatable {
    /// The content.
    enum Content: Equatable {
        case picture(Picture)
        /// The length of a packet in bytes.
        case packet(Int)
    }

    /// The facts of a picture.
    struct Picture: Equatable {
        var format: PixelFormat
        var size: ImageSize
        var rotation: Rotation
        var color: ColorSpace?
        var aspectRatio: Rational?
    }

    var content: Content
    var isKey: Bool
    var isCorrupt: Bool
    var isDiscontinuity: Bool
    var isLoss: Bool
    var sequence: UInt64
    var pts: Int64?
    var dts: Int64?
    var duration: Int64?
    var captureTime: MonotonicTime?
    var wallClock: Int64?

    /// How far in the future a time of exposure may be, for a device with a separate clock.
    private static let clockTolerance = Duration.seconds(1)

    /// The statement of a plug-in about an item, in a separate process or in this one.
    struct Statement {
        var isPacket: Bool
        var flags: UInt32
        var sequence: UInt64
        var pts: Int64
        var dts: Int64
        var duration: Int64
        var captureTime: Int64
        var wallClock: Int64
    }

    /// Checks everything but the memory.
    ///
    /// - Parameters:
    ///   - statement: the plug-in's statement.
    ///   - previous: the sequence number of the previous item; nil for the first.
    ///   - content: the checked statement about the picture or packet.
    init(_ statement: Statement, after previous: UInt64?, _ content: Content) throws(PluginLie) {
        self.content = content
        let known = UInt32(INLET_FLAG_KEY | INLET_FLAG_CORRUPT | INLET_FLAG_DISCONTINUITY | INLET_FLAG_LOSS)
        guard statement.flags & ~known == 0 else { throw PluginLie("set the unknown flags \(statement.flags)") }
        func has(_ flag: Int) -> Bool { statement.flags & UInt32(flag) != 0 }
        isKey = has(INLET_FLAG_KEY)
        isCorrupt = has(INLET_FLAG_CORRUPT)
        isDiscontinuity = has(INLET_FLAG_DISCONTINUITY)
        isLoss = has(INLET_FLAG_LOSS)
        sequence = statement.sequence
        if let previous, sequence <= previous {
            throw PluginLie("gave the sequence number \(sequence) after \(previous)")
        }
        pts = Self.time(statement.pts)
        dts = Self.time(statement.dts)
        duration = try WireValues.duration(statement.duration)
        wallClock = Self.time(statement.wallClock)
        captureTime = Self.time(statement.captureTime).map(MonotonicTime.init(nanoseconds:))
        if let captureTime, captureTime.nanoseconds < 0 || captureTime - .now > Self.clockTolerance {
            throw PluginLie("stated a time of exposure that is not of this machine's monotonic clock")
        }
    }

    /// `INLET_NO_TIME` means that the time is unknown.
    private static func time(_ time: Int64) -> Int64? { time == .min ? nil : time }
}
