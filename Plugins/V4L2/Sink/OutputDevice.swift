import CV4L2
import CYUV
import Glibc
import InletCore
import InletFFmpeg
import InletV4L2

// Unsafe: fills the mapped buffers of an output device.
/// Owns the buffers of an output device and fills them with pictures.
///
/// Confined to the sink's queue.
@safe final class OutputDevice {
    private let device: V4L2Device
    private let type: UInt32
    private let format: inlet_v4l2_format
    private var buffers: [V4L2Buffer] = []
    private var free: [Int] = []
    private var isStreaming = false
    /// Whether pictures are written by the `write` call, which copies them, instead of into mapped buffers.
    private let isWritten: Bool
    private var isMarked = false
    /// The encoder, if the device accepts JPEGs.
    private let encoder: JPEGEncoder?

    /// The time for which a device may accept no picture before the sink gives up, in milliseconds.
    private static let patience: Int32 = 2000

    /// Sets the format and maps buffers.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the device accepts neither the size nor a supported format.
    init(_ device: V4L2Device, _ video: VideoFormat, _ configuration: V4L2SinkConfiguration) throws(InletError) {
        self.device = device
        guard let type = device.outputType, device.capabilities.isOutput else {
            throw InletError(
                .unsupported,
                "\(device.node) (\(device.name)) accepts no pictures. `inlet devices --outputs` lists devices that do.")
        }
        self.type = type
        // v4l2loopback before 0.13 returns from VIDIOC_DQBUF the buffer that its readers are using at that moment, so
        // they would see the next picture being drawn.
        isWritten = device.isLoopback && device.capabilities.contains(.readWrite)
        guard device.capabilities.contains(.streaming) else {
            throw InletError(.unsupported, "\(device.node) (\(device.name)) does not support mapped buffers.")
        }
        format = try Self.setFormat(device, type, video, configuration.format)
        encoder = Self.isJPEG(format) ? JPEGEncoder(quality: configuration.quality) : nil
        if let rate = video.frameRate { _ = try? device.setFrameRate(rate, type: type) }
        if isWritten {
            buffers = [V4L2Buffer(allocating: [Int(format.sizeimage.0)], index: 0)]
            return
        }
        var request = v4l2_requestbuffers()
        request.count = UInt32(configuration.buffers)
        request.type = type
        request.memory = V4L2_MEMORY_MMAP.rawValue
        try device.check(unsafe device.call(inlet_VIDIOC_REQBUFS, &request), "VIDIOC_REQBUFS")
        for index in 0..<Int(request.count) { buffers.append(try V4L2Buffer(mapping: index, of: device, type: type)) }
        free = Array(buffers.indices)
    }

    deinit { close() }

    /// Writes a picture of the configured size as soon as the device has a free buffer.
    ///
    /// - Throws: ``InletError/Code/timedOut`` if no buffer becomes free in time; ``InletError/Code/disconnected`` if
    ///   the device is gone.
    func write(_ frame: VideoFrame) throws(InletError) {
        let index = isWritten ? 0 : try freeBuffer()
        let planes = unsafe buffers[index].planes
        let used: [UInt32] =
            if let encoder {
                unsafe [try encode(frame, encoder, planes[0])]
            } else {
                unsafe try fill(planes, frame.buffer)
            }
        guard !isWritten else { return unsafe try write(UnsafeRawBufferPointer(rebasing: planes[0][..<Int(used[0])])) }
        var facts = inlet_v4l2_buffer()
        facts.index = UInt32(index)
        facts.planes = UInt32(unsafe planes.count)
        facts.timestamp_ns = frame.timestamp.nanoseconds
        facts.bytesused.0 = used[0]
        facts.length.0 = unsafe UInt32(planes[0].count)
        if used.count > 2 {
            (facts.bytesused.1, facts.bytesused.2) = (used[1], used[2])
            facts.length.1 = unsafe UInt32(planes[1].count)
            facts.length.2 = unsafe UInt32(planes[2].count)
        }
        try device.check(
            unsafe inlet_v4l2_queue_buffer(device.descriptor, type, V4L2_MEMORY_MMAP.rawValue, &facts), "VIDIOC_QBUF")
        free.removeAll { $0 == index }
        if !isStreaming { try device.check(startStream(), "VIDIOC_STREAMON") }
    }

    /// - Returns: 0, or the errno of the failure.
    @discardableResult private func startStream() -> Int32 {
        var type = Int32(self.type)
        let failure = unsafe device.call(inlet_VIDIOC_STREAMON, &type)
        isStreaming = failure == 0
        return failure
    }

    /// Writes a whole picture by the `write` call, which copies it.
    @unsafe private func write(_ bytes: UnsafeRawBufferPointer) throws(InletError) {
        while true {
            let count = unsafe Glibc.write(device.descriptor, bytes.baseAddress, bytes.count)
            if count == bytes.count { return markWriter() }
            let failure = count < 0 ? errno : EIO
            if failure == EINTR { continue }
            guard failure == EAGAIN else { throw device.error(failure, "write") }
            try waitForRoom()
        }
    }

    /// Marks this process as a writer. Otherwise v4l2loopback would not notice when it leaves, and would no longer
    /// offer an output.
    ///
    /// Called after the first picture, so that no reader gets the previous content of the memory. Versions from 0.13
    /// on reject the call, and detect a writer's end without it.
    private func markWriter() {
        if !isMarked { startStream() }
        isMarked = true
    }

    /// Waits until the device accepts a picture.
    private func waitForRoom() throws(InletError) {
        var polled = pollfd(fd: device.descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&polled, 1, Self.patience) > 0 else {
            throw InletError(
                .timedOut, "\(device.node) accepted no picture for \(Self.patience / 1000) seconds: its driver hangs.")
        }
    }

    private func freeBuffer() throws(InletError) -> Int {
        if let index = free.first { return index }
        while true {
            var facts = inlet_v4l2_buffer()
            let failure = unsafe inlet_v4l2_dequeue_buffer(device.descriptor, type, V4L2_MEMORY_MMAP.rawValue, &facts)
            if failure == 0, buffers.indices.contains(Int(facts.index)) {
                free.append(Int(facts.index))
                return Int(facts.index)
            }
            if failure != EAGAIN { throw device.error(failure == 0 ? EIO : failure, "VIDIOC_DQBUF") }
            try waitForRoom()
        }
    }

    /// Writes a picture into a buffer as a JPEG.
    ///
    /// - Returns: the size of the JPEG in bytes.
    @unsafe private func encode(
        _ frame: VideoFrame, _ encoder: JPEGEncoder, _ target: UnsafeMutableRawBufferPointer
    ) throws(InletError) -> UInt32 {
        let node = device.node
        return try encoder.encode(frame.buffer, colorSpace: frame.colorSpace) { jpeg throws(InletError) in
            guard jpeg.byteCount <= target.count else {
                throw InletError(
                    .unsupported,
                    """
                    A JPEG of \(jpeg.byteCount) bytes does not fit into the buffers of \(node), which hold \(target.count). Lower \
                    the quality.
                    """)
            }
            unsafe jpeg.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            return UInt32(jpeg.byteCount)
        }
    }

    /// Copies a picture into a buffer.
    ///
    /// - Returns: the number of bytes used in each plane.
    @unsafe private func fill(
        _ planes: [UnsafeMutableRawBufferPointer], _ picture: I420Buffer
    ) throws(InletError) -> [UInt32] {
        let (width, height) = (Int32(picture.size.width), Int32(picture.size.height))
        let stride = Int(format.bytesperline.0)
        func target(_ plane: Int, _ offset: Int) -> UnsafeMutablePointer<UInt8>? {
            unsafe planes[plane].baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
        }
        func require(_ fits: Bool) throws(InletError) {
            guard !fits else { return }
            throw InletError(
                .malformedData, "The buffers of \(device.node) are too short for the format that it accepted.")
        }
        let y = unsafe picture.baseAddress(of: .y)
        let u = unsafe picture.baseAddress(of: .u)
        let v = unsafe picture.baseAddress(of: .v)
        let strides = (Int32(picture.strides.y), Int32(picture.strides.u), Int32(picture.strides.v))
        defer { withExtendedLifetime(picture) {} }
        if InletV4L2.FourCC(rawValue: format.pixelformat) == "YUYV" {
            let used = stride * picture.size.height
            try require(unsafe planes[0].count >= used)
            _ = unsafe I420ToYUY2(y, strides.0, u, strides.1, v, strides.2, target(0, 0), Int32(stride), width, height)
            return [UInt32(used)]
        }
        let isSplit = unsafe planes.count > 2
        let chroma = isSplit ? Int(format.bytesperline.1) : stride / 2
        let (luma, part) = (stride * picture.size.height, chroma * picture.size.chroma.height)
        if isSplit {
            try require(unsafe planes[0].count >= luma && planes[1].count >= part && planes[2].count >= part)
        } else {
            try require(unsafe planes[0].count >= luma + 2 * part)
        }
        _ = unsafe I420Copy(
            y, strides.0, u, strides.1, v, strides.2, target(0, 0), Int32(stride),
            isSplit ? target(1, 0) : target(0, luma), Int32(chroma),
            isSplit ? target(2, 0) : target(0, luma + part), Int32(chroma), width, height)
        return isSplit ? [UInt32(luma), UInt32(part), UInt32(part)] : [UInt32(luma + 2 * part)]
    }

    /// Stops the stream and closes the device.
    func close() {
        if isStreaming {
            var type = Int32(self.type)
            _ = unsafe device.call(inlet_VIDIOC_STREAMOFF, &type)
            isStreaming = false
        }
        buffers = []
        free = []
        guard !isWritten else { return }
        var request = v4l2_requestbuffers()
        request.type = type
        request.memory = V4L2_MEMORY_MMAP.rawValue
        _ = unsafe device.call(inlet_VIDIOC_REQBUFS, &request)
    }
}
