import Foundation
import InletCapture
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import InjectSource

/// A picture in separate memory, in the layout of FFmpeg's rawvideo, as an application has it.
///
/// `@unchecked Sendable`: written in `init` only.
@safe final class RawPicture: @unchecked Sendable {
    let memory: UnsafeMutableRawBufferPointer
    private let onRelease: @Sendable () -> Void

    init(_ bytes: some Collection<UInt8>, onRelease: @escaping @Sendable () -> Void = {}) {
        unsafe memory = .allocate(byteCount: bytes.count, alignment: 64)
        unsafe memory.copyBytes(from: bytes)
        self.onRelease = onRelease
    }

    deinit {
        unsafe memory.deallocate()
        onRelease()
    }

    /// A frame that refers to this memory.
    ///
    /// - Parameters:
    ///   - planes: the offset of each plane, its stride, and its number of bytes.
    func frame(
        _ pixelFormat: PixelFormat, _ size: ImageSize, planes: [(offset: Int, stride: Int, byteCount: Int)],
        pts: MediaTime? = nil, rotation: Rotation = .none
    ) -> SourceFrame {
        var list = SourcePlanes()
        for plane in planes {
            unsafe list.append(
                SourcePlane(
                    UnsafeRawBufferPointer(rebasing: memory[plane.offset..<plane.offset + plane.byteCount]),
                    stride: plane.stride))
        }
        return SourceFrame(
            pixelFormat: pixelFormat, size: size, planes: list, owner: self, pts: pts, sequence: 0, rotation: rotation)
    }

    /// A frame of the usual layout of a pixel format.
    func frame(_ pixelFormat: PixelFormat, _ size: ImageSize, pts: MediaTime? = nil) -> SourceFrame {
        frame(pixelFormat, size, planes: Self.planes(pixelFormat, size), pts: pts)
    }

    static func planes(_ pixelFormat: PixelFormat, _ size: ImageSize) -> [(offset: Int, stride: Int, byteCount: Int)] {
        let (luma, chroma) = (size.width * size.height, size.chroma.width * size.chroma.height)
        return switch pixelFormat {
        case .nv12: [(0, size.width, luma), (luma, 2 * size.chroma.width, 2 * chroma)]
        case .bgra: [(0, 4 * size.width, 4 * luma)]
        default:
            [(0, size.width, luma), (luma, size.chroma.width, chroma), (luma + chroma, size.chroma.width, chroma)]
        }
    }
}

extension MediaTime {
    static func milliseconds(_ count: Int) -> MediaTime { MediaTime(ticks: Int64(count), timeBase: Rational(1, 1000)) }
}

/// A capturer of an injector whose frames are kept, while a test runs.
struct Capture {
    let injector: FrameInjector
    let capturer: Capturer
    let sink: KeepingSink.Box

    init(_ injector: FrameInjector, retry: RetryPolicy = .never, queue: QueuePolicy = .lossless()) {
        self.injector = injector
        var configuration = CapturerConfiguration.patient
        configuration.retry = retry
        capturer = Capturer(InjectedSourceConfiguration(injector), configuration: configuration)
        sink = KeepingSink.Box()
        capturer.attach(KeepingSink(sink), queue: queue)
    }

    /// Waits until a source reads the injector.
    func isActive() async { await Waiting.until { injector.wants.isActive } }
}

extension CapturerConfiguration {
    /// Without a log, and with time-outs that no test reaches, however busy the machine is.
    static var patient: CapturerConfiguration {
        var configuration = CapturerConfiguration()
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        configuration.timeouts.open = .seconds(600)
        configuration.timeouts.firstFrame = .seconds(600)
        configuration.timeouts.nextFrame = .seconds(600)
        return configuration
    }
}

/// A sink that keeps its frames.
final class KeepingSink: FrameSink {
    final class Box: Sendable {
        private let kept = Mutex<[VideoFrame]>([])
        var frames: [VideoFrame] { kept.withLock { $0 } }
        func add(_ frame: VideoFrame) { kept.withLock { $0.append(frame) } }
    }

    private let box: Box
    init(_ box: Box) { self.box = box }
    func consume(_ frame: VideoFrame) { box.add(frame) }
}
