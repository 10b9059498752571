import CFFmpeg
import Glibc
import InletCore
import InletFFmpeg
import InletSystem
import Synchronization

// Unsafe: owns a libavformat input while a separate thread opens it.
/// Opens a network input on a separate thread, so that a cancellation need not wait for the name service, which cannot
/// be interrupted.
///
/// The last user frees the input: the waiting thread if it received it, or the job if no thread is waiting any more.
@safe final class OpeningJob: Sendable {
    private struct State {
        var code: Int32?
        var facts = FFmpegLogging.Facts()
        /// The reason why nothing was opened.
        var refusal: InletError?
        var isAbandoned = false
    }

    private let url: Place
    private let format: String?
    /// The objects that libavformat calls, which must outlive the input.
    private let watchers: (interruption: Interruption, nested: NestedInputs)
    private let state = Mutex(State())
    // Written by the job's thread until `code` is set, and by the waiting thread after that.
    nonisolated(unsafe) private var input: UnsafeMutablePointer<AVFormatContext>?
    // After `init`, used only by the job's thread.
    nonisolated(unsafe) private var options: OpaquePointer?
    /// Signalled when the job is done.
    private let done: WakeUpSignal

    /// The number of abandoned jobs in the whole process, which is limited because a dead name service must not use up
    /// all threads.
    private static let abandoned = Atomic(0)
    private static let mostAbandoned = 16
    /// The time that libavformat has to notice an interruption.
    private static let grace = Duration.milliseconds(50)

    /// Returns the address of the connection. May ask the name service for it.
    typealias Place = @Sendable () throws(InletError) -> String

    /// Creates a job.
    ///
    /// - Parameters:
    ///   - url: returns the address. Called once, on the job's thread.
    ///   - input: an allocated context, which the job now owns.
    ///   - options: a dictionary, which the job frees.
    @unsafe init(
        url: @escaping Place, format: String?, input: UnsafeMutablePointer<AVFormatContext>, options: OpaquePointer?,
        watchers: (interruption: Interruption, nested: NestedInputs)
    ) throws(InletError) {
        self.url = url
        self.format = format
        self.watchers = watchers
        unsafe self.input = input
        unsafe self.options = options
        do throws(InletError) {
            done = try WakeUpSignal()
        } catch {
            // `deinit` runs only once all properties are set, so the objects that they own are freed here.
            unsafe avformat_close_input(&self.input)
            unsafe av_dict_free(&self.options)
            throw error
        }
        guard Self.abandoned.load(ordering: .relaxed) < Self.mostAbandoned else {
            throw InletError(
                .resourceExhausted,
                "Too many connections are waiting for the name service. Check that DNS works (getent hosts NAME).")
        }
    }

    deinit {
        unsafe avformat_close_input(&input)
        unsafe av_dict_free(&options)
    }

    /// Opens the input and waits for it.
    ///
    /// - Returns: the input, which the caller owns, or nil and libavformat's code.
    /// - Throws: the error if the address of the connection was rejected.
    @unsafe func run(
        _ context: SourceContext
    ) throws(InletError) -> (input: UnsafeMutablePointer<AVFormatContext>?, code: Int32, facts: FFmpegLogging.Facts) {
        try SystemThread.start(named: "inlet-open") { self.open() }
        var isLast = false
        while true {
            var polled = [
                pollfd(fd: done.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isLast ? -1 : context.wakeUpDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&polled, 2, Int32(Self.grace.wholeNanoseconds / 1_000_000))
            let finished = state.withLock { state -> (Int32, FFmpegLogging.Facts, InletError?)? in
                guard let code = state.code else {
                    state.isAbandoned = isLast
                    return nil
                }
                return (code, state.facts, state.refusal)
            }
            if let (code, facts, refusal) = finished {
                if let refusal { throw refusal }
                defer { unsafe input = nil }
                return unsafe (input, code, facts)
            }
            if isLast {
                Self.abandoned.add(1, ordering: .relaxed)
                return (nil, inlet_averror_exit, FFmpegLogging.Facts())
            }
            isLast = watchers.interruption.shouldGiveUp
        }
    }

    private func open() {
        _ = FFmpegLogging.takeFacts()
        FFmpegLogging.holdRedirects()
        var code = inlet_averror_exit
        var refusal: InletError?
        do throws(InletError) {
            let url = try url()
            code = unsafe watchers.nested.openFirst(input, url, options)
            if code >= 0 {
                code = unsafe avformat_open_input(
                    &input, url, (watchers.nested.demuxer ?? format).flatMap { unsafe av_find_input_format($0) },
                    &options)
            }
        } catch {
            refusal = error
        }
        let facts = FFmpegLogging.takeFacts()
        let isAbandoned = state.withLock { state in
            state.code = code
            state.facts = facts
            state.refusal = refusal
            return state.isAbandoned
        }
        if isAbandoned { Self.abandoned.subtract(1, ordering: .relaxed) }
        done.raise()
    }
}
