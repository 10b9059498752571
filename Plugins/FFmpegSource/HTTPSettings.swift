import FoundationEssentials
import InletCore
import InletFFmpeg

/// What all requests of a source over HTTP have in common.
struct HTTPSettings: Sendable {
    var user: String?
    var password: String?
    var certificate = CertificateCheck()
    var policy = AddressPolicy.follow
    var proxies = ProxyEnvironment()
    var userAgent = "Inlet"
    var referer: String?
    /// Whether parts are asked for; nil is where the server offers them.
    var isSeekable: Bool?
    /// Where the first input begins and ends; nil for the whole.
    var offset: Int64?
    var end: Int64?
    /// Whether what breaks off is asked for again from there.
    var reconnects = false
    /// Whether that goes for what cannot be asked for in parts, too, which then begins anew.
    var reconnectsStreams = false
    /// The longest time between two such requests.
    var longestReconnectDelay = Duration.seconds(120)

    /// Options of libavformat's HTTP that are honoured: `ffmpeg.NAME`.
    static let options: Set<String> = [
        "user_agent", "referer", "seekable", "offset", "end_offset", "reconnect", "reconnect_streamed",
        "reconnect_delay_max",
    ]

    init() {}

    init(_ network: FFmpegNetworkConfiguration, environment: [String: String]) throws(InletError) {
        let address = try NetworkAddress(network.url)
        user = network.user ?? address.user
        password = network.password ?? address.password
        certificate = network.certificateCheck
        policy = network.addressPolicy
        proxies = ProxyEnvironment(environment)
        let options = network.options
        if let agent = options["user_agent"] { userAgent = agent }
        referer = options["referer"]
        isSeekable = try Self.number(options, "seekable").flatMap { $0 < 0 ? nil : $0 > 0 }
        offset = try Self.number(options, "offset")
        end = try Self.number(options, "end_offset")
        reconnects = try Self.number(options, "reconnect") ?? 0 > 0
        reconnectsStreams = try Self.number(options, "reconnect_streamed") ?? 0 > 0
        if let seconds = try Self.number(options, "reconnect_delay_max") {
            longestReconnectDelay = .seconds(max(0, min(seconds, 4294)))
        }
    }

    private static func number(_ options: [String: String], _ name: String) throws(InletError) -> Int64? {
        guard let text = options[name] else { return nil }
        guard let number = Int64(text), number >= -1 else {
            throw InletError(.invalidConfiguration, "ffmpeg.\(name) is a number: 0, 1 or more.")
        }
        return number
    }
}

/// The proxies that the environment names, as curl and others read it.
struct ProxyEnvironment: Sendable, Hashable {
    private var proxies: [String: String] = [:]
    private var exceptions: [String] = []

    /// None.
    init() {}

    /// - Parameter environment: `http_proxy` in lower case alone, as a server's CGI gets the other from whoever asks.
    init(_ environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.utf8.isEmpty }
        }
        let all = value("all_proxy", "ALL_PROXY")
        let plain = value("http_proxy") ?? all
        proxies["http"] = plain
        // libavformat takes that of HTTP for both.
        proxies["https"] = value("https_proxy", "HTTPS_PROXY") ?? plain
        exceptions = (value("no_proxy", "NO_PROXY") ?? "").split(atByte: ",", keepsEmpty: false)
            .flatMap { $0.split(atByte: " ", keepsEmpty: false) }.map { $0.lowercasedASCII }
    }

    /// The proxy for a host; nil where the connection is made to the host itself.
    func proxy(scheme: String, host: String) -> String? {
        let host = host.lowercasedASCII
        let isExcepted = exceptions.contains { exception in
            let name = exception.hasBytePrefix(".") ? String(exception.dropFirst()) : exception
            return exception.isSameBytes(as: "*") || host.isSameBytes(as: name) || host.hasByteSuffix(".\(name)")
        }
        return isExcepted ? nil : proxies[scheme]
    }
}
