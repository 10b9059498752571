import InletCore
import InletFFmpeg
import InletHTTPServer

/// Sends the newest frames of a camera as JPEGs to the viewers of the daemon's server. It encodes a frame once for all
/// viewers, and encodes nothing if there are no viewers.
final class ViewSink: FrameSink {
    private let settings: ViewSettings
    private let hub: PictureHub
    private let encoder: JPEGEncoder

    init(_ settings: ViewSettings, hub: PictureHub) {
        (self.settings, self.hub) = (settings, hub)
        encoder = JPEGEncoder(quality: settings.quality)
    }

    var wants: SinkWants {
        var wants = SinkWants(
            largestSize: settings.largestSize, rotation: .applied, squarePixels: true,
            maximumFrameRate: settings.frameRate)
        wants.filters = .all
        return wants
    }

    var takesFrames: Bool { hub.isWatched }

    func start(_ format: VideoFormat, _ context: SinkContext) throws { hub.report(to: context) }

    func consume(_ frame: VideoFrame) throws {
        guard hub.isWatched else { return }
        try encoder.encode(frame.buffer, colorSpace: frame.colorSpace) { hub.publish($0) }
    }
}
