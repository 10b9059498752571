import CLinux
import Glibc
import InletCore
import InletSystem

// Unsafe: reads and writes extended attributes of files.
/// A moment on two clocks: one that is never set, and the time of day, which may be corrected at any time.
package struct RecorderTime: Sendable, Hashable {
    /// The boot ID of the machine's start from which ``sinceBoot`` counts; empty if the system does not report it.
    package var boot: String
    /// The nanoseconds since that start, including sleep.
    package var sinceBoot: Int64
    /// The nanoseconds since 1970.
    package var sinceEpoch: Int64

    package init(boot: String, sinceBoot: Int64, sinceEpoch: Int64) {
        (self.boot, self.sinceBoot, self.sinceEpoch) = (boot, sinceBoot, sinceEpoch)
    }

    /// The current moment.
    package static var now: RecorderTime {
        let clock = CLOCK_BOOTTIME
        return RecorderTime(
            boot: currentBoot, sinceBoot: MonotonicTime.nanoseconds(of: clock),
            sinceEpoch: MonotonicTime.nanoseconds(of: CLOCK_REALTIME))
    }

    private static let currentBoot: String = {
        let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        return count == bytes.count ? String(decoding: bytes, as: UTF8.self) : ""
    }()

    /// An earlier time of day is from a clock that has not been set: before 2024 this recorder did not exist.
    private static let earliest: Int64 = 1_704_067_200_000_000_000

    /// Returns how long ago a moment was; nil if that is unknown, because the moment is in the future or its clock was
    /// not set.
    package func age(of other: RecorderTime) -> Duration? {
        guard boot.isEmpty || boot != other.boot else {
            return sinceBoot >= other.sinceBoot ? .nanoseconds(sinceBoot - other.sinceBoot) : nil
        }
        return age(ofDay: other.sinceEpoch)
    }

    /// Returns how long ago a moment was, from its time of day only.
    package func age(ofDay time: Int64) -> Duration? {
        time >= Self.earliest && time <= sinceEpoch ? .nanoseconds(sinceEpoch - time) : nil
    }
}

/// A recorder's note on a file: the moment at which it began or ended the file.
///
/// It is an extended attribute of the file, `user.inlet.recorded`, with four words: `begun` or `ended`, the machine's
/// boot ID or `-`, nanoseconds since that start, and nanoseconds since 1970. If the file system has no such attributes,
/// there is no note.
package struct RecordingMark: Sendable, Hashable {
    package enum Event: String, Sendable { case begun, ended }

    package var event: Event
    package var time: RecorderTime

    package init(_ event: Event, at time: RecorderTime) { (self.event, self.time) = (event, time) }

    /// The text of the attribute.
    package var text: String {
        "\(event.rawValue) \(time.boot.isEmpty ? "-" : time.boot) \(time.sinceBoot) \(time.sinceEpoch)"
    }

    /// Reads the text of the attribute; returns nil if it is invalid.
    package init?(text: String) {
        let words = text.split(atByte: " ", keepsEmpty: false)
        guard words.count == 4, let event = Event(rawValue: String(words[0])), let sinceBoot = Int64(words[2]),
            let sinceEpoch = Int64(words[3]), sinceBoot >= 0
        else { return nil }
        let boot = words[1] == "-" ? "" : String(words[1])
        self.init(event, at: RecorderTime(boot: boot, sinceBoot: sinceBoot, sinceEpoch: sinceEpoch))
    }

    private static let attribute = "user.inlet.recorded"

    /// Writes the note to an open file.
    package func write(to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = unsafe fsetxattr(descriptor, Self.attribute, bytes, bytes.count, 0)
    }

    /// Reads the note of a file.
    package init?(path: String) {
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = unsafe lgetxattr(path, Self.attribute, &bytes, bytes.count)
        guard count > 0 else { return nil }
        self.init(text: String(decoding: bytes.prefix(count), as: UTF8.self))
    }
}
