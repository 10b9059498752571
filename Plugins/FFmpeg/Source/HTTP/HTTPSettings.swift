import CCurl
import FoundationEssentials
import InletCore
import InletFFmpeg
import InletNetwork

/// The settings that all HTTP requests of a source share.
struct HTTPSettings: Sendable {
    var user: String?
    var password: String?
    var certificate = CertificateCheck()
    var policy = AddressPolicy.follow
    var proxies = ProxyEnvironment()
    var userAgent = "Inlet"
    var referer: String?
    /// Whether parts are requested. If nil, they are requested if the server offers them.
    var isSeekable: Bool?
    /// The beginning and end of the first input; nil for the whole resource.
    var offset: Int64?
    var end: Int64?
    /// Whether a truncated transfer is resumed by another request.
    var reconnects = false
    /// Whether that also applies to transfers without support for parts, which then restart from the beginning.
    var reconnectsStreams = false
    /// The longest time between two such requests.
    var longestReconnectDelay = Duration.seconds(120)

    /// The interval at which a still picture is requested again; nil if it is read once.
    var pollInterval: Duration?

    /// The supported options of libavformat's HTTP protocol: `ffmpeg.NAME`.
    static let options: Set<String> = [
        "user_agent", "referer", "seekable", "offset", "end_offset", "reconnect", "reconnect_streamed",
        "reconnect_delay_max",
    ]

    init() {}

    /// - Throws: ``InletError/Code/unsupported`` if libcurl is not installed.
    init(_ network: FFmpegNetworkConfiguration, environment: [String: String]) throws(InletError) {
        guard inlet_curl_load() else {
            throw InletError(
                .unsupported, "HTTP needs libcurl, which cannot be loaded. Install libcurl4 (Debian), 7.80 or later."
            )
        }
        let address = try NetworkAddress(network.url)
        user = network.user ?? address.user
        password = network.password ?? address.password
        certificate = network.certificateCheck
        policy = network.addressPolicy
        if network.pollInterval > .zero, network.pace ?? .live == .live { pollInterval = network.pollInterval }
        proxies = ProxyEnvironment(environment)
        let options = network.options
        if let agent = try Self.headerValue(options, "user_agent") { userAgent = agent }
        referer = try Self.headerValue(options, "referer")
        isSeekable = try Self.number(options, "seekable").flatMap { $0 < 0 ? nil : $0 > 0 }
        offset = try Self.number(options, "offset").flatMap { $0 > 0 ? $0 : nil }
        // libavformat uses 0 for no end.
        end = try Self.number(options, "end_offset").flatMap { $0 > 0 ? $0 : nil }
        if let end, end <= offset ?? 0 {
            throw InletError(.invalidConfiguration, "ffmpeg.end_offset must be above ffmpeg.offset, or 0 for no end.")
        }
        reconnects = try Self.number(options, "reconnect") ?? 0 > 0
        reconnectsStreams = try Self.number(options, "reconnect_streamed") ?? 0 > 0
        if let seconds = try Self.number(options, "reconnect_delay_max") {
            longestReconnectDelay = .seconds(max(0, min(seconds, 4294)))
        }
    }

    /// Returns the value of a header, checked so that it cannot contain another header.
    private static func headerValue(_ options: [String: String], _ name: String) throws(InletError) -> String? {
        guard let text = options[name] else { return nil }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw InletError(.invalidConfiguration, "ffmpeg.\(name) must be one line without control characters.")
        }
        return text
    }

    private static func number(_ options: [String: String], _ name: String) throws(InletError) -> Int64? {
        guard let text = options[name] else { return nil }
        guard let number = Int64(text), number >= -1 else {
            throw InletError(.invalidConfiguration, "ffmpeg.\(name) must be a whole number, 0 or greater.")
        }
        return number
    }
}

/// The proxies that the environment names, read like curl and other programs do.
struct ProxyEnvironment: Sendable, Hashable {
    private var proxies: [String: String] = [:]
    private var exceptions: [String] = []

    /// Creates an environment without proxies.
    init() {}

    /// - Parameter environment: the environment. `http_proxy` is read only in lower case, because clients of a CGI
    ///   server can set the upper-case variable.
    init(_ environment: [String: String]) {
        func value(_ names: String...) -> String? {
            names.lazy.compactMap { environment[$0] }.first { !$0.utf8.isEmpty }
        }
        let all = value("all_proxy", "ALL_PROXY")
        let plain = value("http_proxy") ?? all
        proxies["http"] = plain
        // libavformat uses the HTTP proxy for both.
        proxies["https"] = value("https_proxy", "HTTPS_PROXY") ?? plain
        exceptions = (value("no_proxy", "NO_PROXY") ?? "").split(atByte: ",", keepsEmpty: false)
            .flatMap { $0.split(atByte: " ", keepsEmpty: false) }.map { $0.lowercasedASCII }
    }

    /// Returns the proxy for a host; nil if the connection is made directly.
    func proxy(scheme: String, host: String) -> String? {
        // IPv6 addresses are in brackets.
        let host = String(host.lowercasedASCII.trimmed { "[]".utf8.contains($0) })
        let address = IPAddress(literal: host)
        let isExcepted = exceptions.contains { exception in
            if exception.isSameBytes(as: "*") { return true }
            if let address { return address.isIn(network: exception) }
            var name = exception[...]
            if name.hasBytePrefix("*") { name = name.dropFirst() }
            if name.hasBytePrefix(".") { name = name.dropFirst() }
            return host.isSameBytes(as: name) || host.hasByteSuffix(".\(name)")
        }
        return isExcepted ? nil : proxies[scheme]
    }
}
