#if os(Linux)
    public import InletCore

    extension SourcePlugin {
        /// The plug-in for `screen:`: the screen of an X server on this machine, or one that a desktop portal shares.
        public static let screen = SourcePlugin(
            PluginInfo(
                name: "ScreenSource", schemes: ["screen"],
                summary: "A screen of this machine, of an X server or a Wayland session, or a part of it.",
                usage: "screen: for this session's, screen::1 for an X server's, screen:portal for a Wayland session's",
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
                "region", default: nil, "The part of the screen; by default all of it", unit: "pixels")
            static let monitor = PluginOption<String?>(
                "monitor", default: nil, "The monitor of this name, as `xrandr --listmonitors` has it")
            static let frameRate = PluginOption(
                "fps", default: defaults.frameRate, in: ScreenConfiguration.frameRates,
                "The most frames a second; fewer come while nothing changes", unit: "frames a second")
            static let pointer = PluginOption(
                "cursor", default: defaults.showsPointer, "Whether the pointer is drawn into the pictures")
            static let refresh = PluginOption(
                "refresh", default: defaults.refresh, in: ScreenConfiguration.refreshes,
                "After how long a screen that does not change is captured again")
            static let buffers = PluginOption(
                "buffers", default: defaults.buffers, in: ScreenConfiguration.bufferCounts,
                "Pictures that may be in use at once", unit: "pictures")
            static let consent = PluginOption(
                "consent", default: defaults.consent, in: ScreenConfiguration.consents,
                "How long the user has to answer the desktop portal's question")
            static let restore = PluginOption.file(
                "restore", "The file that keeps the portal's token, so that the user is not asked again")
        }
    }
#endif
