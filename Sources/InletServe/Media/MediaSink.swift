import InletCore

/// Takes the packets of a camera for recordings and streams. It takes no pictures, so that none is decoded for it.
final class MediaSink: FrameSink {
    private let media: CameraMedia
    /// Until the first picture, with which a sink starts.
    private let request = PictureRequest()

    init(_ media: CameraMedia) { self.media = media }

    /// As little as possible of a source that has pictures alone.
    var wants: SinkWants {
        SinkWants(largestSize: ImageSize(width: 64, height: 64), maximumFrameRate: Rational(1))
    }

    var takesFrames: Bool { false }

    func start(_ format: VideoFormat, _ context: SinkContext) {
        media.report(to: context)
        request.set(false)
    }

    func consume(_ frame: VideoFrame) {}

    func makePassThrough() -> PassThrough? { PassThrough(to: media.hub, pictureRequest: request) }
}
