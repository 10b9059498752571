public import InletCore

/// A bouncing ball as a video source: `ball:?size=640x480&fps=25&radius=24`.
public struct BallConfiguration: FrameSourceConfiguration {
    /// The size of the pictures. The default is 640x480.
    public var size = ImageSize(width: 640, height: 480)
    /// Frames per second. The default is 25.
    public var frameRate = Rational(25)
    /// The radius of the ball, in pixels. The default is 24.
    public var radius = 24

    public init() {}

    public var redactedURI: String { "ball:?size=\(size)&fps=\(frameRate)&radius=\(radius)" }

    public func makeSource() -> any FrameSource { BallSource(self) }
}

extension SourcePlugin {
    /// The plug-in for `ball:`. Add it to a registry with `registry.register(SourcePlugin.ball)`, or to the stock
    /// `inlet` with `PluginKit.export(.ball)`.
    public static let ball = SourcePlugin(
        PluginInfo(
            name: "BallSource", schemes: ["ball"], summary: "A bouncing ball, drawn in Swift.", usage: "ball:",
            options: [Options.size.description, Options.frameRate.description, Options.radius.description],
            examples: ["ball:?size=1280x720&fps=30"])
    ) { _, values in
        // Names, types and ranges have been checked.
        var configuration = BallConfiguration()
        configuration.size = values[Options.size]
        configuration.frameRate = values[Options.frameRate]
        configuration.radius = values[Options.radius]
        return configuration
    }

    private enum Options {
        static let size = PluginOption(
            "size", default: BallConfiguration().size,
            in: ImageSize(width: 64, height: 64)...ImageSize(width: 4096, height: 4096), "Picture size",
            unit: "pixels")
        static let frameRate = PluginOption(
            "fps", default: BallConfiguration().frameRate, in: Rational(1)...Rational(240), "Frames per second")
        static let radius = PluginOption(
            "radius", default: BallConfiguration().radius, in: 1...32, "Radius of the ball", unit: "pixels")
    }
}
