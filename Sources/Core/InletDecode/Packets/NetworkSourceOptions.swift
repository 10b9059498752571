package import InletCore

/// The options that all sources of live network streams have, with the defaults of their configurations.
package enum NetworkSourceOptions {
    private static let limits = PictureLimits(frameRate: Rational(240))

    package static let user = PluginOption<String?>("user", default: nil, "The user, instead of the one in the address")
    package static let password = PluginOption.secret("password", "The password, instead of the one in the address")
    package static let privateAddresses = PluginOption(
        "private-addresses", default: PrivateAddresses.follow,
        "The addresses that a server may redirect to: no more private ones than its own, only public ones, or all")
    package static let connectTimeout = PluginOption(
        "connect-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "The time limit for connecting")
    package static let firstTimeout = PluginOption(
        "first-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "The time limit for the first packet")
    package static let readTimeout = PluginOption(
        "read-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "The time limit for each later packet")
    package static let threads = PluginOption<Int?>(
        "threads", default: nil, "Threads that decode, 0 for one per core; the default for live streams is 1",
        range: "0...64"
    ) { (0...64).contains($0 ?? 0) }
    package static let maximumSize = PluginOption(
        "max-size", default: limits.size,
        in: ImageSize(width: 16, height: 16)...ImageSize(width: 32_768, height: 32_768), "Larger pictures are refused")
    package static let maximumFrameRate = PluginOption(
        "max-fps", default: Rational(240), in: Rational(1)...Rational(100_000),
        "The maximum frame rate of a live stream; a faster stream is refused")
    package static let decoder = PluginOption<String?>(
        "decoder", default: nil, "The decoder to try first; 'inlet plugins' lists them")
    package static let maximumLag = PluginOption(
        "maximum-lag", default: DecodingSettings.defaultMaximumLag, in: .zero ... .seconds(60),
        "The longest time from a packet's arrival to its picture; later pictures are skipped; 0 is no limit")
    package static let damage = PluginOption(
        "damage", default: DamagePolicy.drop,
        "Damaged pictures are dropped, dropped for up to 2 s (automatic), shown as damaged (mark), or shown as any other"
    )
    .formerly("damaged")
}
