import CFFmpeg
import Glibc
import InletCore
import InletFFmpeg

// Unsafe: owns a descriptor and libavformat's view of it.
/// Reads a FIFO, a device or standard input for libavformat, and never blocks beyond a cancellation.
///
/// libavformat's own `file:` opens a FIFO with a call that blocks until there is a writer, which its interrupt
/// callback cannot end.
@safe final class PipeInput {
    private let descriptor: Int32
    /// Whether the input has a path and can be opened again after it is closed, unlike standard input.
    let canBeOpenedAnew: Bool
    private let context: SourceContext
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    /// Whether a FIFO is known by its hang-up to have no writer, and no writer has been seen.
    private var lacksWriter = false

    /// The number of bytes read at a time: the default capacity of a pipe on Linux.
    private static let bufferSize: Int32 = 65_536

    /// - Parameters:
    ///   - path: the path, or `-` for standard input.
    ///   - awaitsWriter: whether a FIFO without a writer counts as an interruption, which may take any time.
    ///   - context: cancels waiting, and is notified of interruptions.
    /// - Returns: nil if the path is an ordinary file, which libavformat itself reads best.
    /// - Throws: an error for the path: ``InletError/Code/notFound``, also for a directory,
    ///   ``InletError/Code/permissionDenied``, ``InletError/Code/malformedData`` for an empty file.
    init?(path: String, awaitsWriter: Bool, context: SourceContext) throws(InletError) {
        self.context = context
        if path == "-" {
            descriptor = STDIN_FILENO
            canBeOpenedAnew = false
        } else {
            var facts = stat()
            guard unsafe stat(path, &facts) == 0 else {
                throw InletError(ffmpeg: -errno, operation: "stat")
            }
            switch facts.st_mode & S_IFMT {
            case S_IFDIR:
                throw InletError(.notFound, "The path is a directory. Name a video file in it.")
            case S_IFREG:
                guard facts.st_size > 0 else { throw InletError(.malformedData, "The file is empty.") }
                return nil
            default: break
            }
            // Without O_NONBLOCK this would wait for a writer.
            descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            canBeOpenedAnew = true
            guard descriptor >= 0 else { throw InletError(ffmpeg: -errno, operation: "open") }
            if awaitsWriter, facts.st_mode & S_IFMT == S_IFIFO { lacksWriter = Self.provokeHangUp(descriptor) }
        }
        guard let buffer = unsafe av_malloc(Int(Self.bufferSize)) else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_malloc")
        }
        let opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe io = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize, 0, opaque,
            { opaque, buffer, count in
                guard let opaque = unsafe opaque, let buffer = unsafe buffer else { return inlet_averror_exit }
                return unsafe Unmanaged<PipeInput>.fromOpaque(opaque).takeUnretainedValue().fill(buffer, count)
            }, nil, nil)
    }

    deinit {
        if let io = unsafe io {
            unsafe av_free(io.pointee.buffer)
            unsafe avio_context_free(&self.io)
        }
        if canBeOpenedAnew { close(descriptor) }
    }

    /// Opens a FIFO for writing and closes it. From then on it polls as hung up while it has no writer. Linux reports
    /// that only if there has been a writer since the reader opened the FIFO.
    ///
    /// - Returns: false if that is not permitted or the system has no such path. A missing writer then looks like
    ///   silence.
    private static func provokeHangUp(_ descriptor: Int32) -> Bool {
        // Opened by the descriptor, because the path may name another file by now.
        let writer = unsafe open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard writer >= 0 else { return false }
        close(writer)
        return true
    }

    /// Records, from the result of polling a FIFO, whether it has a writer, until there is one.
    ///
    /// - Returns: whether there is no writer yet.
    private func awaitsWriter(_ events: Int32) -> Bool {
        guard lacksWriter else { return false }
        if events & Int32(POLLHUP) != 0, events & Int32(POLLIN) == 0 {
            if context.interruption == nil { context.beginInterruption("no program writes to the FIFO") }
            return true
        }
        lacksWriter = false
        context.endInterruption()
        return false
    }

    /// Waits for data, the end of the pipe or a cancellation.
    private func fill(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
        while true {
            if context.shouldGiveUp { return inlet_averror_exit }
            // A FIFO that has never been opened for writing polls as nothing; one that its writer has closed polls as
            // hung up.
            var polled = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: context.wakeUpDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            let ready = unsafe poll(&polled, 2, 100)
            if ready >= 0, awaitsWriter(Int32(polled[0].revents)) {
                // A hang-up does not block, so only the cancellation is polled for a while.
                polled[0].fd = -1
                _ = unsafe poll(&polled, 2, 100)
                continue
            }
            if ready <= 0 || polled[0].revents == 0 { continue }
            let got = unsafe read(descriptor, buffer, Int(count))
            if got > 0 {
                context.reportProgress()
                return Int32(got)
            }
            if got == 0 { return inlet_averror_eof }
            if errno != EAGAIN && errno != EINTR { return -errno }
        }
    }
}
