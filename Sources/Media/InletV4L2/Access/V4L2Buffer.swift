import CV4L2
import Glibc
package import InletCore

// Unsafe: owns a driver's mapped buffer.
/// Owns the memory of one of a driver's buffers: mapped from the driver, or the process's own that the driver fills.
///
/// The mapping outlives the stream, the descriptor and the device, so a frame that a sink holds remains readable after
/// the camera was unplugged.
///
/// `@unchecked Sendable`: the addresses never change. The driver writes only while the buffer is queued, and its users
/// queue it only while no frame refers to it.
@safe package final class V4L2Buffer: @unchecked Sendable {
    package let index: Int
    /// One address per plane with the multi-planar API, else one.
    package let planes: [UnsafeMutableRawBufferPointer]
    private let isMapped: Bool

    /// Maps a buffer that VIDIOC_REQBUFS allocated.
    package init(mapping index: Int, of device: V4L2Device, type: UInt32) throws(InletError) {
        self.index = index
        isMapped = true
        var facts = inlet_v4l2_buffer()
        facts.index = UInt32(index)
        try device.check(
            unsafe inlet_v4l2_query_buffer(device.descriptor, type, V4L2_MEMORY_MMAP.rawValue, &facts),
            "VIDIOC_QUERYBUF")
        var mapped: [UnsafeMutableRawBufferPointer] = unsafe []
        for plane in 0..<Int(facts.planes) {
            let length = PlaneValues(facts.length)[plane]
            let offset = PlaneValues(facts.offset)[plane]
            let address = unsafe mmap(
                nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, device.descriptor, off_t(offset))
            guard let address = unsafe address, unsafe address != UnsafeMutableRawPointer(bitPattern: -1) else {
                let failure = errno
                unsafe mapped.forEach { unsafe munmap($0.baseAddress, $0.count) }
                throw device.error(failure, "mmap")
            }
            unsafe mapped.append(UnsafeMutableRawBufferPointer(start: address, count: length))
        }
        unsafe planes = mapped
    }

    /// Allocates the process's memory for a driver that maps none, one block per plane.
    package init(allocating sizes: [Int], index: Int) {
        self.index = index
        isMapped = false
        // Whole pages, as the driver maps pages.
        unsafe planes = sizes.map { size in
            let memory = UnsafeMutableRawBufferPointer.allocate(
                byteCount: (size + 4095) / 4096 * 4096, alignment: 4096)
            unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
            return unsafe memory
        }
    }

    deinit {
        unsafe planes.forEach {
            if isMapped { unsafe munmap($0.baseAddress, $0.count) } else { unsafe $0.deallocate() }
        }
    }
}
