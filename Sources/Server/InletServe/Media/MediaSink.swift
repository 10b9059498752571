import InletCore

/// Takes the packets of a camera for recordings and streams. It takes no pictures, so none are decoded for it.
final class MediaSink: FrameSink {
    private let media: CameraMedia
    /// Requests pictures until the first one, because a sink starts with a picture.
    private let request = PictureRequest()

    init(_ media: CameraMedia) { self.media = media }

    /// Requests as little as possible from a source that has only pictures.
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
