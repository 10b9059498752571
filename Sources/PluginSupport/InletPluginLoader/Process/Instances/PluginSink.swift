import CInletPlugin
import InletCore

/// A sink of a plug-in that takes pictures.
final class PluginSink: FrameSink {
    private let configuration: PluginSinkConfiguration
    private var instance: (any SinkInstance)?
    private var format: VideoFormat?
    private var started: VideoFormat?
    /// The number of frames before the plug-in's wants took effect.
    private var early = 0
    private(set) var wants = SinkWants(rotation: .applied)

    /// How many frames may be on their way when the plug-in states its wants.
    private static let mostEarly = 16

    init(_ configuration: PluginSinkConfiguration) { self.configuration = configuration }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        let instance = try configuration.makeInstance()
        self.instance = instance
        self.format = format
        do {
            wants = try Self.wants(instance.wants, of: configuration.program.name)
        } catch {
            try? instance.finish()
            self.instance = nil
            throw error
        }
    }

    /// Returns the wants that a plug-in's statement describes.
    static func wants(_ wants: inlet_sink_wants, of name: String) throws(InletError) -> SinkWants {
        guard wants.packets == 0 else {
            throw InletError(
                .unsupported, "The plug-in \(name) takes packets, not pictures. Use it for a source that has packets.")
        }
        do throws(PluginLie) {
            let rate = try WireValues.ratio(wants.frame_rate, "frame rate")
            let isLimited = wants.width > 0 || wants.height > 0
            // A limit on one side leaves the other unlimited.
            let most = WireValues.largestDimension
            let size =
                isLimited
                ? try WireValues.size(wants.width == 0 ? most : wants.width, wants.height == 0 ? most : wants.height)
                : nil
            return SinkWants(
                largestSize: size, rotation: wants.keeps_rotation == 0 ? .applied : .metadata, maximumFrameRate: rate)
        } catch {
            throw PluginCall.rejection(error, of: name)
        }
    }

    func consume(_ frame: VideoFrame) throws {
        guard let instance, var format else { throw SinkStopped() }
        // The first frames were made before the wants were known.
        if let most = wants.largestSize, !frame.size.fits(in: most), early < Self.mostEarly {
            early += 1
            return
        }
        format.size = frame.size
        format.colorSpace = frame.colorSpace
        format.rotation = frame.rotation
        format.sampleAspectRatio = frame.sampleAspectRatio
        if started != format {
            try instance.start(
                CheckedStream.wire(
                    size: format.size, timeBase: format.timeBase, frameRate: format.frameRate,
                    aspectRatio: format.sampleAspectRatio, color: format.colorSpace, rotation: format.rotation),
                parameterSets: [])
            started = format
        }
        guard try instance.consume(SinkItem(frame, timeBase: format.timeBase)) else { throw SinkStopped() }
    }

    func finish() throws {
        defer { instance = nil }
        try instance?.finish()
    }
}
