import CScreenCast
import Glibc
import InletCore
import InletSystem

// Unsafe: owns a libpipewire stream.
/// A stream of pictures that a compositor sends through PipeWire, in shared memory. For one thread.
@safe final class CastStream {
    /// A picture from the compositor.
    struct Picture {
        let lease: CastLease
        var pixelFormat: PixelFormat
        /// The visible part of the picture.
        var visible: ImageRect
        /// The offset of the top row of the whole picture, and the bytes from one row to the next.
        var offset: Int
        var stride: Int
        var rotation: Rotation
        /// The time when the picture was drawn, if the compositor states it.
        var time: MonotonicTime?
    }

    /// The current state of the stream.
    struct State {
        /// The reason why the stream is gone, which may be empty; nil while it exists.
        var end: String?
        /// The number of responses from the server.
        var answers: UInt32
        /// The format of the pictures; nil until it is negotiated.
        var format: (size: ImageSize, pixelFormat: PixelFormat)?
        /// Whether no picture can arrive because all memory is in use.
        var isStarved: Bool
    }

    private let cast: OpaquePointer

    /// - Parameters:
    ///   - remote: a connection to PipeWire, which the stream takes over.
    ///   - rate: the maximum frame rate.
    ///   - buffers: the number of pictures that may be in use at once.
    /// - Throws: ``InletError/Code/resourceExhausted`` or ``InletError/Code/disconnected``.
    init(remote: Int32, node: UInt32, rate: Rational, buffers: Int) throws(InletError) {
        // One picture is repeated while nothing changes, one waits to be taken, two are being returned, because
        // PipeWire returns one at a time, and one is being drawn.
        let (frames, seconds) = rate < Rational(1) ? (1, 1) : (rate.numerator, rate.denominator)
        guard
            let cast = unsafe inlet_cast_new(
                remote, node, UInt32(clamping: frames), UInt32(clamping: seconds), Int32(clamping: buffers + 5))
        else {
            let code = errno
            throw InletError(
                code == ENOMEM || code == EMFILE || code == ENFILE ? .resourceExhausted : .disconnected,
                "Cannot connect to PipeWire: \(SystemErrorText.of(code)).",
                context: .init(operation: "pw_context_connect_fd", nativeCode: code))
        }
        unsafe self.cast = cast
    }

    deinit { unsafe inlet_cast_free(cast) }

    /// The descriptor to poll for events.
    var polled: pollfd { unsafe pollfd(fd: inlet_cast_descriptor(cast), events: Int16(POLLIN), revents: 0) }

    /// Makes the stream handle its pending events.
    func run() -> State {
        unsafe inlet_cast_run(cast)
        let state = unsafe inlet_cast_look(cast)
        let size = unsafe ImageSize(width: Int(state.width), height: Int(state.height))
        return unsafe State(
            end: state.is_over ? String(cString: state.error_text) : nil, answers: state.answers,
            format: Self.pixelFormat(state.layout).map { (size, $0) }, isStarved: state.is_starved)
    }

    /// Requests a response from the server, which the state's `answers` counts.
    func ping() { unsafe inlet_cast_ping(cast) }

    /// Sets whether the compositor should send frames.
    func setActive(_ isActive: Bool) { unsafe inlet_cast_set_active(cast, isActive) }

    /// Takes the latest picture, if one has arrived.
    ///
    /// - Throws: ``InletError/Code/malformedData`` if the picture does not fit into its memory.
    func take() throws(InletError) -> Picture? {
        var frame = unsafe inlet_cast_frame()
        guard unsafe inlet_cast_take(cast, &frame), let memory = unsafe frame.memory else { return nil }
        let lease = unsafe CastLease(memory, UnsafeRawBufferPointer(start: frame.start, count: frame.size))
        let size = unsafe ImageSize(width: Int(frame.width), height: Int(frame.height))
        let visible = unsafe ImageRect(
            x: Int(frame.crop_x), y: Int(frame.crop_y), width: Int(frame.crop_width),
            height: Int(frame.crop_height))
        let (offset, stride) = unsafe (Int(frame.offset), Int(frame.stride))
        guard let format = unsafe Self.pixelFormat(frame.layout), visible.size.width > 0, visible.size.height > 0,
            visible.lies(in: size), stride > 0,
            lease.plane(offset: offset, stride: stride).holds(rows: size.height, of: size.width * 4)
        else {
            throw InletError(
                .malformedData,
                "The compositor's picture of \(size) pixels with rows of \(stride) bytes does not fit into its memory."
            )
        }
        return unsafe Picture(
            lease: lease, pixelFormat: format, visible: visible, offset: offset, stride: stride,
            rotation: Rotation(rawValue: Int(frame.quarters) * 90) ?? .none,
            time: frame.time > 0 ? MonotonicTime(nanoseconds: frame.time) : nil)
    }

    /// The format's name in FFmpeg; nil until a format is negotiated.
    private static func pixelFormat(_ layout: inlet_cast_layout) -> PixelFormat? {
        switch layout {
        case inlet_cast_bgr0: PixelFormat("bgr0")
        case inlet_cast_rgb0: PixelFormat("rgb0")
        default: nil
        }
    }
}
