import CV4L2
import InletCore
import InletV4L2
import Synchronization

/// The buffers that go round between a driver and the frames that are out.
///
/// Streaming is started, stopped and read on the capture thread; buffers come back from any thread.
@safe final class CaptureQueue: Sendable {
    /// Whose memory the buffers are.
    enum Memory: Sendable {
        case mapped, own

        var type: UInt32 { self == .mapped ? V4L2_MEMORY_MMAP.rawValue : V4L2_MEMORY_USERPTR.rawValue }
    }

    /// A buffer that the driver has filled.
    struct Filled {
        var buffer: V4L2Buffer
        var facts: inlet_v4l2_buffer
        /// How many buffers the driver has left.
        var left: Int
    }

    private enum Place {
        case driver
        /// Taken from the driver, until no frame refers to it.
        case out
        case idle
    }

    let count: Int
    private let type: UInt32
    private let memory: Memory
    private let buffers: [V4L2Buffer]
    private let state: Mutex<State>

    private struct State {
        /// Nil when it was closed: buffers that come back then only end.
        var device: V4L2Device?
        var isStreaming = false
        /// Where each buffer is.
        var places: [Place]

        var queuedCount: Int { places.count { $0 == .driver } }
    }

    /// Asks the driver for buffers.
    ///
    /// - Parameter sizes: of the planes, for memory of our own.
    /// - Throws: ``InletError``; nil where the driver does not do this kind of memory.
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

    /// Gives the driver every buffer that no frame refers to, and starts the stream.
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

    /// Ends the stream. What frames refer to stays as it is.
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

    /// Ends the stream and gives the device up, so that others can have it, however long frames are kept.
    func close() {
        let device = state.withLock { state -> V4L2Device? in
            stop(&state)
            defer { state.device = nil }
            return state.device
        }
        guard let device else { return }
        // The driver keeps the memory of buffers that are still mapped until they are not (kernel 5.0 and later); older
        // drivers refuse, and stay busy until then.
        var request = v4l2_requestbuffers()
        request.type = type
        request.memory = memory.type
        _ = unsafe device.call(inlet_VIDIOC_REQBUFS, &request)
    }

    /// A buffer that is full, or nil where there is none yet.
    ///
    /// - Throws: what `VIDIOC_DQBUF` failed with.
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

    /// Whether the driver has filled a buffer anew since it was dequeued, or may be filling it at this moment.
    ///
    /// Only for a driver with one ring for all, which fills the buffer with the oldest picture next, whether or not it
    /// is held (`v4l2_loopback_write` in v4l2loopback.c, versions 0.12 to 0.15).
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

    /// Lends a buffer that was dequeued to a frame.
    func lend(_ buffer: V4L2Buffer) -> CaptureLease { CaptureLease(buffer, queue: self) }

    /// Takes a buffer back, where the stream still runs. From any thread.
    ///
    /// It is queued with the next picture, on the capture thread, which then holds nobody up: a driver may keep the
    /// lock that queueing takes for as long as it fills a picture, and others wait for it with a busy processor. Where
    /// the driver has few buffers, it is queued at once.
    func giveBack(_ buffer: V4L2Buffer) {
        state.withLock { state in
            state.places[buffer.index] = .idle
            // One that the driver refuses is offered again with the next. A device that is gone says so to whoever
            // waits for frames.
            if state.isStreaming, state.queuedCount < plenty { _ = queueIdle(&state) }
        }
    }

    /// With so many buffers to fill, the driver is not about to run dry.
    private var plenty: Int { max(2, count / 2) }

    /// Offers the driver every buffer that is idle.
    ///
    /// - Returns: 0, or the errno of the last refusal.
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
