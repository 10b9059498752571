import InletCore
import InletV4L2
import Testing

@testable import V4L2Source

@Suite struct BandwidthTests {
    private static let raw = V4L2FormatInfo(
        fourCC: "YUYV",
        sizes: [(1920, 1080), (1280, 720), (640, 480)].map {
            V4L2FrameSizes(ImageSize(width: $0.0, height: $0.1), [Rational(30)])
        })
    private static let jpeg = V4L2FormatInfo(
        fourCC: "MJPG", isCompressed: true,
        sizes: [V4L2FrameSizes(ImageSize(width: 1280, height: 720), [Rational(30)])])

    @Test(
        "A full bus is reported with figures, and with a mode that fits",
        arguments: [
            (
                [raw], 1920, 1080, 480,
                "1920x1080 at 30 fps (YUYV) needs 124.4 MB/s, and USB at 480 Mbit/s carries at most 24.6 MB/s for one camera. 640x480 at 30 fps (YUYV) would need less."
            ),
            (
                [raw, jpeg], 1280, 720, 480,
                "1280x720 at 30 fps (YUYV) needs 55.3 MB/s, and USB at 480 Mbit/s carries at most 24.6 MB/s for one camera. 1280x720 at 30 fps (MJPG) would need less."
            ),
            (
                [raw], 640, 480, 12,
                "640x480 at 30 fps (YUYV) needs 18.4 MB/s, and USB at 12 Mbit/s carries at most 1.0 MB/s for one camera."
            ),
            (
                [raw], 1280, 720, nil,
                "1280x720 at 30 fps (YUYV) needs 55.3 MB/s. 640x480 at 30 fps (YUYV) would need less."
            ),
        ] as [([V4L2FormatInfo], Int, Int, Double?, String)])
    func sentences(formats: [V4L2FormatInfo], width: Int, height: Int, megabits: Double?, sentence: String) {
        let negotiation = Negotiation(formats: formats) { _, _ in .discrete([]) }
        let mode = V4L2CaptureMode(
            format: "YUYV", size: ImageSize(width: width, height: height), rate: Rational(30))
        #expect(
            negotiation.bandwidthAdvice(
                for: mode, byteCount: width * height * 2, speed: megabits.map { USBSpeed(megabits: $0) }) == sentence)
    }

    @Test("The bandwidth of a compressed mode is not guessed")
    func compressed() {
        let negotiation = Negotiation(formats: [Self.jpeg]) { _, _ in .discrete([]) }
        let mode = V4L2CaptureMode(
            format: "MJPG", size: ImageSize(width: 1280, height: 720), rate: Rational(30))
        #expect(
            negotiation.bandwidthAdvice(for: mode, byteCount: 1_843_200, speed: nil)
                == "1280x720 at 30 fps (MJPG) is too much for the bus.")
    }
}
