import CV4L2
import InletCore
import InletV4L2
import Synchronization

// Unsafe: exchanges mapped buffers with the driver.
/// The buffers that circulate between a driver and the frames in use.
///
/// Streaming is started, stopped and read on the capture thread; buffers return from any thread.
@safe final class CaptureQueue: Sendable {
    /// The owner of the buffers' memory.
    enum Memory: Sendable {
        case mapped, own

        var type: UInt32 { self == .mapped ? V4L2_MEMORY_MMAP.rawValue : V4L2_MEMORY_USERPTR.rawValue }
    }

    /// A buffer that the driver has filled.
    struct Filled {
        var buffer: V4L2Buffer
        var facts: inlet_v4l2_buffer
        /// The number of buffers that the driver still has.
        var left: Int
    }

    private enum Place {
        case driver
        /// Taken from the driver, and held until no frame refers to it.
        case out
        case idle
    }

    let count: Int
    private let type: UInt32
    private let memory: Memory
    private let buffers: [V4L2Buffer]
    private let state: Mutex<State>

    private struct State {
        /// The device; nil once it is closed, after which returning buffers are only freed.
        var device: V4L2Device?
        var isStreaming = false
        /// The current place of each buffer.
        var places: [Place]

        var queuedCount: Int { places.count { $0 == .driver } }
    }

    /// Requests buffers from the driver. Returns nil if the driver does not support this kind of memory.
    ///
    /// - Parameter sizes: the sizes of the planes, for the process's memory.
    /// - Throws: ``InletError``.
    init?(_ device: V4L2Device, type: UInt32, memory: Memory, count wanted: Int, sizes: [Int]) throws(InletError) {
        self.type = type
        self.memory = memory
        var request = v4l2_requestbuffers()
        request.count = UInt32(wanted)
        request.type = type
        request.memory = memory.type
        let failure = unsafe device.call(inlet_VIDIOC_REQBUFS, &request)
        if failure == EINVAL || failure == ENOTTY { return nil }
        try device.check(failure, "VIDIOC_REQBUFS")
        count = Int(request.count)
        guard count > 0 else { throw device.error(ENOMEM, "VIDIOC_REQBUFS") }
        var made: [V4L2Buffer] = []
        for index in 0..<count {
            made.append(
                memory == .mapped
                    ? try V4L2Buffer(mapping: index, of: device, type: type)
                    : V4L2Buffer(allocating: sizes, index: index))
        }
        buffers = made
        state = Mutex(State(device: device, places: [Place](repeating: .idle, count: count)))
    }

    deinit { close() }

    /// Queues every buffer that no frame refers to, and starts the stream.
    func start() throws(InletError) {
        let failure = state.withLock { state -> InletError? in
            guard let device = state.device, !state.isStreaming else { return nil }
            let refusal = queueIdle(&state)
            if refusal != 0 { return device.error(refusal, "VIDIOC_QBUF") }
            var type = Int32(self.type)
            let failure = unsafe device.call(inlet_VIDIOC_STREAMON, &type)
            if failure != 0 { return device.error(failure, "VIDIOC_STREAMON") }
            state.isStreaming = true
            return nil
        }
        if let failure { throw failure }
    }

    /// Stops the stream. Memory held by frames is not affected.
    func stop() {
        state.withLock { stop(&$0) }
    }

    private func stop(_ state: inout State) {
        guard let device = state.device, state.isStreaming || state.queuedCount > 0 else { return }
        var type = Int32(self.type)
        _ = unsafe device.call(inlet_VIDIOC_STREAMOFF, &type)
        state.isStreaming = false
        for index in state.places.indices where state.places[index] == .driver { state.places[index] = .idle }
    }

    /// Stops the stream and closes the device, so that others can open it, however long frames are kept.
    func close() {
        let device = state.withLock { state -> V4L2Device? in
            stop(&state)
            defer { state.device = nil }
            return state.device
        }
        guard let device else { return }
        // The driver keeps the memory of mapped buffers until they are unmapped (kernel 5.0 and later). Older drivers
        // reject this and stay busy until then.
        var request = v4l2_requestbuffers()
        request.type = type
        request.memory = memory.type
        _ = unsafe device.call(inlet_VIDIOC_REQBUFS, &request)
    }

    /// Returns a filled buffer; nil if no buffer is filled yet.
    ///
    /// - Throws: the error of `VIDIOC_DQBUF`.
    func dequeue(_ device: V4L2Device) throws(InletError) -> Filled? {
        var facts = inlet_v4l2_buffer()
        let failure = unsafe inlet_v4l2_dequeue_buffer(device.descriptor, type, memory.type, &facts)
        if failure == EAGAIN { return nil }
        try device.check(failure, "VIDIOC_DQBUF")
        let index = Int(facts.index)
        guard buffers.indices.contains(index) else {
            throw InletError(.inputOutput, "The driver returned buffer \(index) of \(count).")
        }
        let left = state.withLock { state in
            state.places[index] = .out
            _ = queueIdle(&state)
            return state.queuedCount
        }
        return Filled(buffer: buffers[index], facts: facts, left: left)
    }

    /// Returns whether the driver has refilled a buffer since it was dequeued, or may be filling it at this moment.
    ///
    /// Only for a driver with one ring for all readers. It next fills the buffer with the oldest picture, whether or
    /// not that buffer is held (`v4l2_loopback_write` in v4l2loopback.c, versions 0.12 to 0.15).
    func isOverwritten(_ filled: Filled, _ device: V4L2Device) throws(InletError) -> Bool {
        let place = filled.facts.offset.0
        var others: [UInt32] = []
        for index in 0..<count {
            var facts = inlet_v4l2_buffer()
            facts.index = UInt32(index)
            try device.check(
                unsafe inlet_v4l2_query_buffer(device.descriptor, type, memory.type, &facts), "VIDIOC_QUERYBUF")
            if facts.offset.0 != place {
                others.append(facts.sequence)
            } else if facts.sequence != filled.facts.sequence || facts.timestamp_ns != filled.facts.timestamp_ns {
                return true
            }
        }
        return RingOrder.isOldest(filled.facts.sequence, among: others)
    }

    /// Lends a dequeued buffer to a frame.
    func lend(_ buffer: V4L2Buffer) -> CaptureLease { CaptureLease(buffer, queue: self) }

    /// Returns a buffer to the driver if it is still streaming. Safe from any thread.
    ///
    /// The buffer is queued together with the next picture, on the capture thread, so that no consumer waits: a driver
    /// may hold the lock for queueing as long as it fills a picture, while others spin on it. If the driver has few
    /// buffers, the buffer is queued at once.
    func giveBack(_ buffer: V4L2Buffer) {
        state.withLock { state in
            state.places[buffer.index] = .idle
            // A buffer that the driver rejects is offered again with the next one. If the device is gone, the caller
            // that waits for frames gets the error.
            if state.isStreaming, state.queuedCount < plenty { _ = queueIdle(&state) }
        }
    }

    /// The number of queued buffers at which the driver is not about to run out.
    private var plenty: Int { max(2, count / 2) }

    /// Offers all idle buffers to the driver.
    ///
    /// - Returns: 0, or the errno of the last rejection.
    private func queueIdle(_ state: inout State) -> Int32 {
        var refusal: Int32 = 0
        for buffer in buffers where state.places[buffer.index] == .idle {
            let failure = queue(buffer, &state)
            if failure != 0 { refusal = failure }
        }
        return refusal
    }

    private func queue(_ buffer: V4L2Buffer, _ state: inout State) -> Int32 {
        guard let device = state.device else { return 0 }
        var facts = inlet_v4l2_buffer()
        facts.index = UInt32(buffer.index)
        facts.planes = UInt32(unsafe buffer.planes.count)
        if memory == .own {
            for plane in 0..<(unsafe buffer.planes.count) {
                let memory = unsafe buffer.planes[plane]
                unsafe withUnsafeMutableBytes(of: &facts.length) {
                    unsafe $0.storeBytes(of: UInt32(memory.count), toByteOffset: 4 * plane, as: UInt32.self)
                }
                unsafe withUnsafeMutableBytes(of: &facts.address) {
                    unsafe $0.storeBytes(
                        of: UInt(bitPattern: memory.baseAddress), toByteOffset: MemoryLayout<UInt>.size * plane,
                        as: UInt.self)
                }
            }
        }
        let failure = unsafe inlet_v4l2_queue_buffer(device.descriptor, type, memory.type, &facts)
        if failure == 0 { state.places[buffer.index] = .driver }
        return failure
    }
}
