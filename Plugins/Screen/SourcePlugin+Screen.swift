public import InletCore

extension SourcePlugin {
    /// The plug-in for `screen:`: the screen of an X server on this machine, or one shared by a desktop portal.
    public static let screen = SourcePlugin(
        PluginInfo(
            name: "ScreenSource", schemes: ["screen"],
            summary: "A screen of this machine (X server or Wayland session), or part of it.",
            usage: "screen: for this session, screen::1 for an X display, screen:portal for a Wayland session",
            options: [
                Options.region.description, Options.monitor.description, Options.frameRate.description,
                Options.pointer.description, Options.refresh.description, Options.buffers.description,
                Options.consent.description, Options.restore.description,
            ],
            examples: [
                "screen:", "screen:?fps=60&cursor=false", "screen::1?region=1280x720+100+50",
                "screen:portal?restore=desk.token",
            ])
    ) { uri, values in
        var configuration = ScreenConfiguration()
        if uri.rest == "portal" {
            configuration.origin = .portal
        } else if !uri.rest.isEmpty {
            configuration.display = uri.rest
        }
        configuration.region = values[Options.region]
        configuration.monitor = values[Options.monitor]
        configuration.frameRate = values[Options.frameRate]
        configuration.showsPointer = values[Options.pointer]
        configuration.refresh = values[Options.refresh]
        configuration.buffers = values[Options.buffers]
        configuration.consent = values[Options.consent]
        configuration.restore = values[Options.restore]
        try configuration.validate()
        return configuration
    }

    private enum Options {
        static let defaults = ScreenConfiguration()
        static let region = PluginOption<ImageRect?>(
            "region", default: nil, "The part of the screen; by default the whole screen", unit: "pixels")
        static let monitor = PluginOption<String?>(
            "monitor", default: nil, "The name of the monitor, as listed by `xrandr --listmonitors`")
        static let frameRate = PluginOption(
            "fps", default: defaults.frameRate, in: ScreenConfiguration.frameRates,
            "The maximum frame rate; lower while nothing changes", unit: "frames a second")
        static let pointer = PluginOption(
            "cursor", default: defaults.showsPointer, "Draw the pointer into the pictures")
        static let refresh = PluginOption(
            "refresh", default: defaults.refresh, in: ScreenConfiguration.refreshes,
            "The time after which an unchanged screen is captured again")
        static let buffers = PluginOption(
            "buffers", default: defaults.buffers, in: ScreenConfiguration.bufferCounts,
            "Pictures that may be in use at once", unit: "pictures")
        static let consent = PluginOption(
            "consent", default: defaults.consent, in: ScreenConfiguration.consents,
            "How long the user has to answer the desktop portal's question")
        static let restore = PluginOption.file(
            "restore", "A file that keeps the portal's token, so that the user is not asked again")
    }
}
