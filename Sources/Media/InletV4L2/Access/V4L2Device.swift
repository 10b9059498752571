import CV4L2
import Glibc
package import InletCore

// Unsafe: owns the descriptor of a device.
/// Owns the descriptor of a V4L2 device and makes the kernel's calls on it.
///
/// Safe from any thread: the descriptor never changes until the end, and the kernel serialises its calls. It is opened
/// as non-blocking, so that no call waits for a frame.
@safe package final class V4L2Device: Sendable {
    /// The node that the device was opened by.
    package let node: String
    /// The descriptor, for `poll`; valid while this object lives.
    package let descriptor: Int32
    package let driver: String
    package let driverVersion: String
    package let capabilities: V4L2Capabilities
    package let name: String
    package let bus: String

    /// - Throws: ``InletError`` from ``InletError/init(v4l2:operation:node:holders:)``.
    package init(node: String) throws(InletError) {
        self.node = node
        let descriptor = unsafe open(node, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw InletError(v4l2: errno, operation: "open", node: node) }
        self.descriptor = descriptor
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else {
            close(descriptor)
            throw InletError(
                .invalidConfiguration, "\(node) is not a device. `inlet devices` lists the devices.",
                context: .init(operation: "open"))
        }
        var answer = v4l2_capability()
        let failure = unsafe inlet_ioctl(descriptor, inlet_VIDIOC_QUERYCAP, &answer)
        guard failure == 0 else {
            close(descriptor)
            throw InletError(v4l2: failure, operation: "VIDIOC_QUERYCAP", node: node)
        }
        let saysOfNode = answer.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
        capabilities = V4L2Capabilities(rawValue: saysOfNode ? answer.device_caps : answer.capabilities)
        driver = unsafe Self.text(&answer.driver, MemoryLayout.size(ofValue: answer.driver))
        name = unsafe Self.text(&answer.card, MemoryLayout.size(ofValue: answer.card))
        bus = unsafe Self.text(&answer.bus_info, MemoryLayout.size(ofValue: answer.bus_info))
        let version = answer.version
        driverVersion = "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
    }

    deinit { close(descriptor) }

    /// Makes a call that takes a structure.
    ///
    /// - Returns: 0 or the errno.
    @unsafe package func call(_ request: UInt, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        unsafe inlet_ioctl(descriptor, request, argument)
    }

    /// Returns the error for the errno of a call on this device.
    package func error(_ number: Int32, _ operation: String) -> InletError {
        InletError(v4l2: number, operation: operation, node: node)
    }

    package func check(_ number: Int32, _ operation: String) throws(InletError) {
        if number != 0 { throw error(number, operation) }
    }

    /// Returns the kernel's text in an array of bytes.
    @unsafe static func text(_ bytes: UnsafeRawPointer, _ capacity: Int) -> String {
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: capacity)
        // The text comes from the device.
        return unsafe String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self).sanitized()
    }

    /// Whether the driver is v4l2loopback, whose writers and readers share one ring of buffers without a queue: a
    /// buffer is refilled while it is held.
    package var isLoopback: Bool { driver == "v4l2 loopback" }

    /// The kind of buffers for captured pictures: single-planar if there is a choice.
    package var captureType: UInt32? {
        if capabilities.contains(.capture) { return V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue }
        if capabilities.contains(.multiplanarCapture) { return V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue }
        return nil
    }

    /// The kind of buffers for output pictures.
    package var outputType: UInt32? {
        if capabilities.contains(.output) { return V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue }
        if capabilities.contains(.multiplanarOutput) { return V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE.rawValue }
        return nil
    }
}
