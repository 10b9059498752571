#if WebRTC
    import InletCore
    import InletRTC

    /// The options that say which pictures peers get.
    enum PictureOptions {
        static let largest = PluginOption(
            "max-size", default: ImageSize(width: 1280, height: 720),
            in: ImageSize(width: 64, height: 64)...ImageSize(width: 7680, height: 7680),
            "Scale larger pictures down to fit", unit: "pixels")
        static let fps = PluginOption<Rational?>(
            "fps", default: nil, "The most pictures a second", range: "above 0 to 240",
            isAllowed: { $0.map { $0 > Rational(0) && $0 <= Rational(240) } ?? true })
        static let bitrate = PluginOption(
            "bitrate", default: 2_500_000, in: 50_000...100_000_000, "At first and at most; it follows the path",
            unit: "bits a second")
        static let threads = PluginOption(
            "threads", default: 1, in: EncoderSettings.threadCounts, "Threads that encode; 0 is the encoder's choice")

        static var descriptions: [PluginOptionDescription] {
            [largest.description, fps.description, bitrate.description, threads.description]
        }

        static func rates(_ values: PluginOptionValues) -> LossStepper.Settings {
            var rates = LossStepper.Settings()
            (rates.maximum, rates.start) = (values[bitrate], values[bitrate])
            rates.minimum = min(rates.minimum, rates.maximum)
            return rates
        }
    }
#endif
