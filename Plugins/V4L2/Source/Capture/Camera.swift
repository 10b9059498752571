import CV4L2
import Glibc
import InletCore
import InletV4L2

// Unsafe: reads from and polls the descriptor of a camera.
/// An opened camera in a negotiated mode: the device, its buffers and its stream.
///
/// Confined to the capture thread. Buffers held by frames return to the queue from any thread.
@safe final class Camera {
    let device: V4L2Device
    let info: V4L2DeviceInfo
    private(set) var picture: CapturePicture
    private(set) var rate: Rational?
    /// The rates of the mode, from which a lower one may be chosen; nil if the configuration or a signal fixes the
    /// rate.
    let freeRates: V4L2FrameRates?
    private let type: UInt32
    private let formats: [V4L2FormatInfo]
    private let configuration: V4L2Configuration
    private(set) var queue: CaptureQueue?
    /// The memory for pictures that must be copied at once.
    let copyPool: BlockPool

    /// A picture or another event from the camera.
    enum Event {
        case filled(CaptureQueue.Filled)
        /// A copy of a picture, its length in bytes, and the driver's information about it (nil if it was read by a
        /// call).
        case copied(BlockLease, Int, inlet_v4l2_buffer?)
        /// The reason why a picture was lost, and the driver's number of the picture, if it has one: frames hold all
        /// memory for copies, or the driver refilled the buffer while it was being copied.
        case lost(DropReason, UInt32?)
        case sourceChanged
        /// A shutter in front of the lens was closed or opened.
        case coverChanged
    }

    /// Opens the device and sets its mode.
    ///
    /// - Throws: ``InletError``, including ``InletError/Code/busy`` and ``InletError/Code/permissionDenied`` with an
    ///   explanation.
    init(_ info: V4L2DeviceInfo, configuration: V4L2Configuration) throws(InletError) {
        self.configuration = configuration
        self.info = info
        device = try V4L2Device(node: info.node)
        guard let type = device.captureType, device.capabilities.isCapture else {
            throw InletError(
                .unsupported,
                "\(device.node) (\(device.name)) delivers no pictures: it is an output, a codec or a metadata device. `inlet devices` lists cameras."
            )
        }
        self.type = type
        if let input = configuration.input {
            var number = Int32(input)
            let failure = unsafe device.call(inlet_VIDIOC_S_INPUT, &number)
            if failure == EINVAL {
                throw InletError(
                    .invalidConfiguration,
                    "The device has no input \(input). List the inputs with v4l2-ctl --list-inputs.")
            }
            try device.check(failure, "VIDIOC_S_INPUT")
        }
        // An HDMI input has the size of its signal. Other inputs, such as a webcam's, reject this.
        let hasSignal = inlet_v4l2_adopt_timings(device.descriptor) == 0
        try V4L2Controls(device).set(configuration.controls)
        // Such events carry the number of their input.
        var input: Int32 = 0
        _ = unsafe device.call(inlet_VIDIOC_G_INPUT, &input)
        device.subscribe(V4L2_EVENT_SOURCE_CHANGE, id: UInt32(clamping: input))
        device.subscribe(V4L2_EVENT_CTRL, id: configuration.shutterControl)
        formats = device.formats(type: type)
        var request = Negotiation.Request(
            size: configuration.size, rate: configuration.frameRate, format: configuration.format)
        // A signal is scaled only on request.
        if hasSignal, request.size == nil, let set = try? device.format(type: type) {
            request.size = CapturePicture.frameSize(set)
        }
        let node = device
        let negotiation = Negotiation(formats: formats) { node.rates(of: $0, at: $1) }
        let mode = try negotiation.choose(request)
        copyPool = BlockPool(capacity: max(2, configuration.copies))
        (picture, rate) = try Self.set(mode, field: configuration.field, on: device, type: type, request)
        freeRates = hasSignal || request.rate != nil ? nil : device.rates(of: picture.code, at: picture.size)
    }

    /// Whether a shutter or switch blocks the camera's view. False if the camera does not report it.
    var isCovered: Bool { device.control(id: configuration.shutterControl)?.value == .number(1) }

    /// The current mode.
    var mode: V4L2CaptureMode { V4L2CaptureMode(format: picture.code, size: picture.size, rate: rate) }

    /// Sets a mode in the driver, and reads back the mode that the driver chose.
    private static func set(
        _ mode: V4L2CaptureMode, field: UInt32, on device: V4L2Device, type: UInt32, _ request: Negotiation.Request
    ) throws(InletError) -> (CapturePicture, Rational?) {
        var format = inlet_v4l2_format()
        format.pixelformat = mode.format.rawValue
        format.field = field
        let picture = try set(format, frameSize: mode.size, on: device, type: type)
        // Nearly all devices cannot place pictures and reject this.
        _ = inlet_v4l2_compose_whole(device.descriptor, picture.format.width, picture.format.height)
        let rate =
            try mode.rate.flatMap { rate throws(InletError) in try device.setFrameRate(rate, type: type) }
            ?? device.frameRate(type: type)
        func refuse(_ wanted: String) -> InletError {
            let set = V4L2CaptureMode(format: picture.code, size: picture.size, rate: rate)
            return InletError(.unsupported, "The driver does not support \(wanted). It would set \(set).")
        }
        if let wanted = request.size, wanted != picture.size { throw refuse("\(wanted)") }
        if let wanted = request.format, wanted != picture.code { throw refuse("format \(wanted)") }
        if let wanted = request.rate, let rate, !Negotiation.areAlike(wanted, rate) { throw refuse("\(wanted) fps") }
        return (picture, rate)
    }

    /// Sets a format for frames of a size, and reads back the format that the driver chose.
    ///
    /// If each buffer holds one field, which the driver may decide, the format's height is that of a field.
    private static func set(
        _ wanted: inlet_v4l2_format, frameSize: ImageSize, on device: V4L2Device, type: UInt32
    ) throws(InletError) -> CapturePicture {
        var format = wanted
        func setFormat(ofFields: Bool) throws(InletError) -> CapturePicture {
            if ofFields { format.field = V4L2_FIELD_ALTERNATE.rawValue }
            format.width = UInt32(clamping: frameSize.width)
            format.height = UInt32(clamping: ofFields ? frameSize.height / 2 : frameSize.height)
            return try CapturePicture(
                try device.setFormat(format, type: type),
                has525Lines: inlet_v4l2_has_525_lines(device.descriptor) != 0)
        }
        let picture = try setFormat(ofFields: CapturePicture.hasSeparateFields(wanted))
        guard picture.fields == .alternating, picture.size.height != frameSize.height else { return picture }
        return try setFormat(ofFields: true)
    }

    /// Starts streaming.
    func start() throws(InletError) {
        do throws(InletError) {
            if queue == nil { queue = try makeQueue() }
            try queue?.start()
        } catch {
            guard error.code == .noBandwidth else { throw error }
            var error = error
            let negotiation = Negotiation(formats: formats) { [device] in device.rates(of: $0, at: $1) }
            let advice = negotiation.bandwidthAdvice(
                for: mode, byteCount: picture.byteCount, speed: USBSpeed(node: device.node))
            error.message = "\(advice) \(error.message)"
            throw error
        }
    }

    private func makeQueue() throws(InletError) -> CaptureQueue? {
        let streams = device.capabilities.contains(.streaming)
        let reads = device.capabilities.contains(.readWrite)
        let sizes = picture.planeSizes
        for memory in [CaptureQueue.Memory.mapped, .own] {
            let isWanted =
                switch configuration.method {
                case .automatic: streams
                case .mapped: memory == .mapped
                case .own: memory == .own
                case .read: false
                }
            guard isWanted else { continue }
            // A loopback's ring has the same length for all, and a reader that requests fewer buffers shortens it
            // permanently.
            let count = device.isLoopback ? V4L2Configuration.bufferCounts.upperBound : configuration.buffers
            if let queue = try CaptureQueue(device, type: type, memory: memory, count: count, sizes: sizes) {
                return queue
            }
        }
        if case .whole = picture.fields {
        } else {
            throw InletError(
                .unsupported,
                "Frames with separate fields cannot be read with read(). Use io=mmap, or choose a progressive format.")
        }
        guard reads, configuration.method == .automatic || configuration.method == .read,
            inlet_v4l2_is_multiplanar(type) == 0
        else {
            throw InletError(
                .unsupported, "The driver does not support io=\(configuration.method.rawValue). Use io=auto."
            )
        }
        return nil
    }

    /// Stops streaming; ``start()`` resumes it. Does nothing for a device that is read by a call.
    func stop() { queue?.stop() }

    /// Changes to another rate of the mode, which drivers allow only while nothing streams.
    ///
    /// - Throws: the failure. The camera continues at the previous rate if it can.
    func setRate(_ wanted: Rational) throws(InletError) {
        let isStreaming = queue != nil
        stop()
        let failure: InletError?
        do throws(InletError) {
            rate = try device.setFrameRate(wanted, type: type) ?? rate
            failure = nil
        } catch {
            failure = error
        }
        if isStreaming { try start() }
        if let failure { throw failure }
    }

    /// Closes the device. Memory held by frames stays readable.
    func close() {
        queue?.close()
        queue = nil
    }

    /// Restarts with the current signal of the input.
    func restart() throws(InletError) {
        close()
        _ = inlet_v4l2_adopt_timings(device.descriptor)
        var format = try device.format(type: type)
        let size = configuration.size ?? CapturePicture.frameSize(format)
        format.pixelformat = picture.code.rawValue
        picture = try Self.set(format, frameSize: size, on: device, type: type)
        rate = device.frameRate(type: type)
        try start()
    }

    /// Waits for a picture or an event, until the context's deadline.
    ///
    /// - Throws: ``InletError/Code/disconnected`` if the device is gone, ``InletError/Code/timedOut``,
    ///   ``InletError/Code/cancelled``.
    func take(_ context: SourceContext) throws(InletError) -> Event {
        while true {
            let events = try wait(context)
            if events & POLLPRI != 0 {
                while let event = device.nextEvent() {
                    switch event {
                    case .sourceChanged: return .sourceChanged
                    case .gone: throw device.error(ENODEV, "VIDIOC_DQEVENT")
                    case .controlChanged(configuration.shutterControl): return .coverChanged
                    case .controlChanged, .ended: continue
                    }
                }
            }
            guard events & (POLLIN | POLLERR | POLLHUP) != 0 else { continue }
            if let event = try takePicture() { return event }
            // There is nothing to take but an error: the stream broke.
            if events & (POLLERR | POLLHUP) != 0 { throw device.error(EIO, "poll") }
        }
    }

    private func takePicture() throws(InletError) -> Event? {
        if let queue {
            guard let filled = try queue.dequeue(device) else { return nil }
            return device.isLoopback ? try copy(filled, of: queue) : .filled(filled)
        }
        guard let lease = copyPool.take(byteCount: picture.byteCount) else { return try skip() }
        let count = unsafe read(device.descriptor, lease.block.memory.baseAddress, picture.byteCount)
        if count > 0 { return .copied(lease, count, nil) }
        let failure = count == 0 ? EIO : errno
        guard failure != EAGAIN, failure != EINTR else { return nil }
        throw device.error(failure, "read")
    }

    /// Copies a picture before it is used, because the driver refills buffers even while they are held.
    private func copy(_ filled: CaptureQueue.Filled, of queue: CaptureQueue) throws(InletError) -> Event {
        defer { queue.giveBack(filled.buffer) }
        guard let lease = copyPool.take(byteCount: picture.byteCount) else {
            return .lost(.poolExhausted, filled.facts.sequence)
        }
        var count = 0
        if let bytes = unsafe filled.bytes.first {
            count = min(bytes.count, lease.block.byteCount)
            unsafe lease.block.memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        guard try !queue.isOverwritten(filled, device) else { return .lost(.damaged, filled.facts.sequence) }
        return .copied(lease, count, filled.facts)
    }

    /// Reads and discards a picture for which no memory is free, so that the driver continues.
    private func skip() throws(InletError) -> Event? {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
            while unsafe read(device.descriptor, bytes.baseAddress, bytes.count) == bytes.count {}
        }
        return .lost(.poolExhausted, nil)
    }

    private func wait(_ context: SourceContext) throws(InletError) -> Int32 {
        if context.isCancelled { try context.checkCancellation() }
        let remaining = (context.deadline - context.clock.now).wholeNanoseconds
        guard remaining > 0 else {
            throw InletError(
                .timedOut,
                "The camera sent no picture in time: it hangs, or its exposure takes longer. If this persists, unplug it and plug it in again."
            )
        }
        var polled = (
            pollfd(fd: device.descriptor, events: Int16(POLLIN | POLLPRI), revents: 0),
            pollfd(fd: context.wakeUpDescriptor, events: Int16(POLLIN), revents: 0)
        )
        // Rounded up, so that the deadline has passed if nothing arrived. A thread that reads ahead has no deadline
        // while no caller waits for a picture, and regularly checks for a new caller.
        let slice: Int64 = context.deadline == .distantFuture ? 100 : 60_000
        let milliseconds = Int32(clamping: min(remaining / 1_000_000 + 1, slice))
        let ready = unsafe withUnsafeMutableBytes(of: &polled) { bytes in
            unsafe poll(bytes.assumingMemoryBound(to: pollfd.self).baseAddress, 2, milliseconds)
        }
        if polled.1.revents != 0 { try context.checkCancellation() }
        return ready > 0 ? Int32(polled.0.revents) : 0
    }
}
