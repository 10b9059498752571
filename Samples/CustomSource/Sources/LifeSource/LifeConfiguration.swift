public import InletCore

/// The Game of Life as a video source: `life:?cells=64x48&fps=10`.
///
/// A configuration is a value with a property for each option. It opens nothing; it makes a new source for each
/// connection.
public struct LifeConfiguration: FrameSourceConfiguration {
    /// The size of the world; each cell becomes 8 by 8 pixels. The default is 64x48.
    public var cells = ImageSize(width: 64, height: 48)
    /// Generations per second. The default is 10.
    public var frameRate = Rational(10)
    /// The seed of the first generation. The default is 1.
    public var seed: UInt64 = 1

    public init() {}

    public var redactedURI: String { "life:?cells=\(cells)&fps=\(frameRate)&seed=\(seed)" }

    public func makeSource() -> any FrameSource { LifeSource(self) }
}

extension SourcePlugin {
    /// The plug-in that adds `life:` to a registry: `registry.register(SourcePlugin.life)`.
    public static let life = SourcePlugin(
        PluginInfo(
            name: "LifeSource", schemes: ["life"], summary: "Conway's Game of Life.", usage: "life:",
            options: [Options.cells.description, Options.frameRate.description, Options.seed.description],
            examples: ["life:?cells=64x48&fps=10"])
    ) { _, values in
        // Names, types and ranges have been checked: these values are valid.
        var configuration = LifeConfiguration()
        configuration.cells = values[Options.cells]
        configuration.frameRate = values[Options.frameRate]
        configuration.seed = values[Options.seed]
        return configuration
    }

    private enum Options {
        static let cells = PluginOption(
            "cells", default: LifeConfiguration().cells,
            in: ImageSize(width: 3, height: 3)...ImageSize(width: 512, height: 512), "Size of the world", unit: "cells")
        static let frameRate = PluginOption(
            "fps", default: LifeConfiguration().frameRate, in: Rational(1)...Rational(240), "Generations per second")
        static let seed = PluginOption(
            "seed", default: LifeConfiguration().seed, "The seed of the first generation")
    }
}
