import CLinux
import Glibc
import InletCore
import InletSystem
import Synchronization

/// A camera of about 100 frames a second with a buffer for one to three seconds. It loses frames that come while the
/// buffer is full.
///
/// A thread plays the driver's role. It always sleeps 10 ms between two frames, so a machine that pauses for a while
/// loses nothing: a frame is lost only if this thread continues while the source is delayed. Frames are numbers in a
/// pipe, so the test also notices a closed descriptor. Safe from any thread.
final class SteadyCamera: FrameSourceConfiguration {
    /// The end of the pipe that the source reads from.
    let output: Int32
    private let input: Int32
    private let lost = Atomic(0)
    private let isStopped = Atomic(false)
    private let hasEnded = Atomic(false)

    /// The length of a number in the pipe, and the length of the pipe. It has two pages, and a page becomes free only
    /// after all of it was read.
    static let (length, capacity) = (32, 8192)
    /// `F_SETPIPE_SZ`
    private static let setPipeSize: Int32 = 1031

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { throw Failure(errno: errno) }
        (output, input) = (ends[0], ends[1])
        guard fcntl(input, Self.setPipeSize, Int32(Self.capacity)) == Self.capacity else { throw Failure(errno: errno) }
    }

    deinit {
        close(output)
        close(input)
    }

    /// The pipe could not be created.
    struct Failure: Error {
        let errno: Int32
    }

    /// The number of frames lost because the source did not take them.
    var lostCount: Int { lost.load(ordering: .acquiring) }

    /// Starts to make frames.
    func start() throws {
        try SystemThread.start(named: "steady-camera") { [self] in
            var number = [UInt64](repeating: 0, count: Self.length / 8)
            while !isStopped.load(ordering: .relaxed) {
                if unsafe write(input, &number, Self.length) != Self.length { lost.add(1, ordering: .releasing) }
                number[0] += 1
                usleep(10_000)
            }
            hasEnded.store(true, ordering: .releasing)
        }
    }

    /// Ends the thread.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        while !hasEnded.load(ordering: .acquiring) { usleep(1000) }
    }

    var redactedURI: String { "steady:" }

    func makeSource() -> any FrameSource { SteadySource(self) }
}

/// The source of a ``SteadyCamera``.
private final class SteadySource: FrameSource {
    private let camera: SteadyCamera
    private var picture: I420Buffer?

    init(_ camera: SteadyCamera) { self.camera = camera }

    func open(_ context: SourceContext) throws -> SourceFormat {
        var draft = try I420Draft(size: ImageSize(width: 64, height: 48))
        draft.fillBlack()
        let picture = draft.publish()
        self.picture = picture
        return SourceFormat(
            size: picture.size, pixelFormat: .yuv420p, frameRate: Rational(100), timeBase: Rational(1, 100),
            pacing: .live)
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        var number = [UInt64](repeating: 0, count: SteadyCamera.length / 8)
        while true {
            try context.checkCancellation()
            let count = unsafe read(camera.output, &number, SteadyCamera.length)
            if count == SteadyCamera.length, let picture {
                let pts = MediaTime(ticks: Int64(clamping: number[0]), timeBase: Rational(1, 100))
                return .frame(SourceFrame(picture, pts: pts, sequence: number[0], flags: .key))
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else {
                throw InletError(.inputOutput, "The camera's descriptor is gone: \(errno).")
            }
            var requests = [camera.output, context.wakeUpDescriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            _ = unsafe poll(&requests, 2, 1000)
        }
    }

    func close() { picture = nil }
}
