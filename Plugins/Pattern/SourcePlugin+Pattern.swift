public import InletCore

extension SourcePlugin {
    /// The plug-in for `pattern:NAME`: generated test pictures.
    public static let pattern = SourcePlugin(
        PluginInfo(
            name: "PatternSource", schemes: ["pattern"],
            summary: "Test pictures: colour bars, motion, noise, and frame numbers that survive compression.",
            usage: "pattern:NAME; NAME is one of \(TestPattern.typeDescription)",
            options: [
                Options.size.description, Options.frameRate.description, Options.frames.description,
                Options.pace.description, Options.seed.description, Options.color.description,
                Options.buffers.description,
            ],
            examples: [
                "pattern:smpte?size=1280x720&fps=30", "pattern:timecode?size=640x480&fps=30000/1001",
                "pattern:ball?frames=300&pace=none",
            ])
    ) { uri, values in
        let configuration = PatternConfiguration(
            try pattern(named: uri), size: values[Options.size], frameRate: values[Options.frameRate],
            frames: values[Options.frames], pace: values[Options.pace], seed: values[Options.seed],
            color: values[Options.color], buffers: values[Options.buffers])
        try configuration.validate()
        return configuration
    }

    private enum Options {
        static let defaults = PatternConfiguration()
        static let size = PluginOption(
            "size", default: defaults.size, in: PatternConfiguration.sizes, "Size of the picture", unit: "pixels")
        static let frameRate = PluginOption(
            "fps", default: defaults.frameRate, in: PatternConfiguration.frameRates, "Frame rate",
            unit: "frames a second")
        static let frames = PluginOption(
            "frames", default: defaults.frames, "Frames before the end; 0 means no end")
        static let pace = PluginOption(
            "pace", default: defaults.pace, "Deliver frames in real time, like a camera, or as fast as they are taken")
        static let seed = PluginOption("seed", default: defaults.seed, "The seed of the noise and of the ball's path")
        static let color = PluginOption("color", default: defaults.color, "Colour of solid")
        static let buffers = PluginOption(
            "buffers", default: defaults.buffers, in: PatternConfiguration.bufferCounts,
            "Pictures of a moving pattern that may be in use at once", unit: "pictures")
    }

    private static func pattern(named uri: PluginURI) throws(InletError) -> TestPattern {
        if uri.rest.isEmpty { return Options.defaults.pattern }
        if let pattern = TestPattern(optionText: uri.rest) { return pattern }
        let names = TestPattern.allCases.map(\.rawValue)
        var message = "There is no pattern '\(uri.rest)'."
        if let nearest = Spelling.nearest(to: uri.rest, among: names) { message += " Did you mean '\(nearest)'?" }
        message += " The patterns are \(names.joined(separator: ", "))."
        throw InletError(.invalidConfiguration, message)
    }
}
