import CLinux
import Glibc
import InletCore

// Unsafe: reads a folder of the system.
/// The devices that the permission `devices` opens: cameras, and what belongs to them.
///
/// Landlock has no patterns, so that each file is allowed by itself. A device that appears later is not among them
/// unless it is in one of the folders: the plug-in reaches it when its source is opened again. Everything else in
/// `/dev` stays closed, such as shared memory, message queues, disks, terminals, keyboards and `uinput`, which types
/// for the user.
enum DeviceFiles {
    /// Folders of devices: USB, graphics cards, DMA heaps, television, sound and the names of cameras.
    private static let folders = ["bus/usb", "dri", "dma_heap", "dvb", "snd", "v4l"]
    /// Names that a number follows: V4L2 and its controllers, buses of sensors and lenses, and serial lines of mounts.
    private static let numbered = [
        "video", "vbi", "radio", "swradio", "v4l-subdev", "v4l-touch", "media", "i2c-", "spidev", "gpiochip", "ttyACM",
        "ttyAMA", "ttyS", "ttyTHS", "ttyUSB",
    ]
    /// Other names: buffers that devices share.
    private static let named = ["udmabuf"]

    /// Returns the paths of those that there are now.
    static func present() -> [String] {
        let entries = names(in: "/dev").filter(isDevice)
        return folders.map { "/dev/\($0)" } + entries.map { "/dev/\($0)" }.filter(isCharacterDevice)
    }

    /// Returns whether a name in `/dev` is that of such a device.
    static func isDevice(_ name: String) -> Bool {
        if named.contains(where: { $0.isSameBytes(as: name) }) { return true }
        return numbered.contains { prefix in
            guard name.hasBytePrefix(prefix) else { return false }
            let number = name.utf8.dropFirst(prefix.utf8.count)
            // The number of an SPI device is that of its bus, a point, and its own.
            return !number.isEmpty && number.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        }
    }

    private static func isCharacterDevice(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name { names.append(name) }
        }
        return names
    }
}
