import InletCore

/// The capacity of a USB port for one camera.
package struct USBSpeed: Sendable, Hashable {
    /// The speed in `/sys`, in Mbit/s: 1.5, 12, 480, 5000 or more.
    package var megabits: Double

    package init(megabits: Double) { self.megabits = megabits }

    /// Reads the speed of the USB device that a video node belongs to; nil if the node does not belong to a USB device,
    /// or `/sys` does not state the speed.
    package init?(node: String) {
        guard
            let device = SystemFiles.resolved(
                "/sys/class/video4linux/\(node.split(atByte: "/", keepsEmpty: false).last ?? "")/device")
        else { return nil }
        // The device is an interface of a USB device, whose folder is the parent folder.
        guard let speed = SystemFiles.text(of: "\(device)/../speed").flatMap({ Double($0) }),
            (0...1e9).contains(speed)
        else { return nil }
        megabits = speed
    }

    /// The most bytes a second of one isochronous stream, by the USB specifications 2.0 (5.6.3) and 3.2 (8.12.6): 1023
    /// bytes a frame of 1 ms, three packets of 1024 bytes a microframe of 125 us, or three bursts of 16 such packets.
    /// Nil for speeds without isochronous streams.
    package var streamBytesPerSecond: Double? {
        switch megabits {
        case 12: 1023 * 1000
        case 480: 3 * 1024 * 8000
        case 5000...: 48 * 1024 * 8000
        default: nil
        }
    }
}
