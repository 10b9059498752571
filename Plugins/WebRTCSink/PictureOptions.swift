#if WebRTC
    import InletCore
    import InletRTC

    /// The options for the pictures that peers get, with the defaults of a configuration.
    struct PictureOptions: Sendable {
        let largest: PluginOption<ImageSize>
        let maximumRate: PluginOption<Rational?>
        let bitrate: PluginOption<Int>
        let threads: PluginOption<Int>
        private let defaultRates: LossStepper.Settings

        init(largestSize: ImageSize, rates: LossStepper.Settings, threads defaultThreads: Int) {
            defaultRates = rates
            largest = PluginOption(
                "max-size", default: largestSize,
                in: ImageSize(width: 64, height: 64)...ImageSize(width: 7680, height: 7680),
                "Scale larger pictures down to fit", unit: "pixels"
            ).formerly("largest")
            maximumRate = PluginOption<Rational?>(
                "max-fps", default: nil, "The most pictures a second", range: "above 0 to 240",
                isAllowed: { $0.map { $0 > Rational(0) && $0 <= Rational(240) } ?? true }
            ).formerly("fps")
            bitrate = PluginOption(
                "bitrate", default: rates.maximum, in: 50_000...100_000_000,
                "At first and at most; it follows the path",
                unit: "bits a second")
            threads = PluginOption(
                "threads", default: defaultThreads, in: EncoderSettings.threadCounts,
                "Threads that encode; 0 is the encoder's choice")
        }

        var descriptions: [PluginOptionDescription] {
            [largest.description, maximumRate.description, bitrate.description, threads.description]
        }

        func rates(_ values: PluginOptionValues) -> LossStepper.Settings {
            var rates = defaultRates
            (rates.maximum, rates.start) = (values[bitrate], values[bitrate])
            rates.minimum = min(rates.minimum, rates.maximum)
            return rates
        }
    }
#endif
