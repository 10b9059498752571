#if GStreamer
import InletCore

/// A camera held upright: pictures of 640x480 whose left half is white, to be turned clockwise. The displayed
/// picture is 480x640 with a white upper half.
struct PortraitSource: FrameSourceConfiguration {
    var redactedURI: String { "portrait:" }

    func makeSource() -> any FrameSource { Source() }

    private final class Source: FrameSource {
        private var number: Int64 = 0
        private var start: MonotonicTime?
        private let timeBase = Rational(1, 30)

        func open(_ context: SourceContext) throws -> SourceFormat {
            SourceFormat(
                size: ImageSize(width: 640, height: 480), pixelFormat: .yuv420p, frameRate: Rational(30),
                timeBase: timeBase, colorSpace: .bt601, rotation: .clockwise90, pacing: .live,
                container: "portrait")
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            let origin = start ?? context.clock.now
            start = origin
            let time = MediaTime(ticks: number, timeBase: timeBase)
            try context.sleep(until: origin + .nanoseconds(time.nanoseconds))
            number += 1
            var draft = try I420Draft(size: ImageSize(width: 640, height: 480))
            draft.fillBlack()
            let stride = draft.strides.y
            var luma = draft.mutableBytes(of: .y)
            for row in 0..<480 {
                for column in 0..<320 { luma[row * stride + column] = 235 }
            }
            return .frame(
                SourceFrame(
                    draft.publish(), pts: time, sequence: UInt64(number - 1), colorSpace: .bt601,
                    rotation: .clockwise90, flags: .key))
        }

        func close() {}
    }
}
#endif
