package import InletCore

/// The options that all sources of live network streams have, with the defaults of their configurations.
package enum NetworkSourceOptions {
    private static let limits = PictureLimits(frameRate: Rational(240))

    package static let user = PluginOption<String?>("user", default: nil, "The user, instead of the address's")
    package static let password = PluginOption.secret("password", "The password, instead of the address's")
    package static let privateAddresses = PluginOption(
        "private-addresses", default: PrivateAddresses.follow,
        "Where a server may lead: to no more private addresses than its own, to public ones alone, or everywhere")
    package static let connectTimeout = PluginOption(
        "connect-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "How long connecting may take")
    package static let firstTimeout = PluginOption(
        "first-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "How long the first packet may take")
    package static let readTimeout = PluginOption(
        "read-timeout", default: Duration.seconds(5), in: .milliseconds(10) ... .seconds(3600),
        "How long any later packet may take")
    package static let threads = PluginOption<Int?>(
        "threads", default: nil, "Threads that decode, 0 for one a core; 1 for live streams where it is not given",
        range: "0...64"
    ) { (0...64).contains($0 ?? 0) }
    package static let maximumSize = PluginOption(
        "max-size", default: limits.size,
        in: ImageSize(width: 16, height: 16)...ImageSize(width: 32_768, height: 32_768), "Larger pictures are refused")
    package static let maximumFrameRate = PluginOption(
        "max-fps", default: Rational(240), in: Rational(1)...Rational(100_000),
        "A live stream with more frames a second is refused")
    package static let decoder = PluginOption<String?>(
        "decoder", default: nil, "The decoder to try first; 'inlet plugins' lists them")
    package static let maximumLag = PluginOption(
        "maximum-lag", default: DecodingSettings.defaultMaximumLag, in: .zero ... .seconds(60),
        "The longest time from a packet's arrival to its picture; what would be later is left out; 0 is no limit")
    package static let damage = PluginOption(
        "damage", default: DamagePolicy.drop,
        "Damaged pictures are dropped, dropped for up to 2 s (automatic), shown as damaged (mark), or shown as any other"
    )
    .formerly("damaged")
}
