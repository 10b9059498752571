package import InletCapture
package import InletCore
package import InletHTTPServer

/// The settings of a daemon. A configuration is accepted as a whole or not at all.
package struct ServeConfiguration: Sendable, Hashable {
    package var server = ServerSettings()
    /// The cameras by name.
    package var cameras: [String: CameraSettings] = [:]
    /// The servers that receive events, by name.
    package var webhooks: [String: WebhookSettings] = [:]
    /// The maximum number of cores that all cameras may use together; nil for no limit.
    package var cores: Double?
    /// The process for the sources of cameras whose configuration has none.
    package var defaultProcess = ProcessPolicy.shared

    package init() {}

    /// The maximum number of cameras of a configuration.
    package static let mostCameras = 256
}

/// The settings of the daemon's server: its address and the permissions of clients.
package struct ServerSettings: Sendable, Hashable {
    /// The address to listen on. The default is 127.0.0.1, which only this machine can reach.
    package var host = "127.0.0.1"
    /// The port; 0 lets the system choose one. The default is 8080.
    package var port = 8080
    /// The tokens by name.
    package var tokens: [String: TokenSettings] = [:]
    /// The certificate and key of a server with TLS; nil, the default, for plain HTTP.
    package var tls: TLSFiles?
    /// The maximum number of concurrent streams of all cameras. The default is 64.
    package var streams = 64
    /// The maximum number of requests per second from one address. Five seconds' worth may arrive at once. 0 is no
    /// limit. The default is 100.
    package var requestsPerClient = 100
    /// The maximum number of requests per second with one token. Five seconds' worth may arrive at once. 0 is no limit.
    /// The default is 500.
    package var requestsPerToken = 500
    /// The WebRTC options, in the syntax of the sink `webrtc:`, including any secrets. The default is `webrtc:`.
    package var webRTC = "webrtc:"
    /// The settings of the RTSP server; nil, the default, for no server.
    package var restream: RestreamSettings?
    /// The settings for a reverse proxy.
    package var proxy = ProxyRule()
    /// The file of the audit log; nil, the default, to write changes only to the daemon's log.
    package var audit: String?

    package init() {}
}

/// A token and its permissions.
package struct TokenSettings: Sendable, Hashable {
    package var scope: AccessScope
    /// The cameras that the token may access. The default is all.
    package var cameras = CameraFilter.all
    /// The secret. No description shows it.
    package var secret: String
}

extension TokenSettings: CustomStringConvertible, CustomDebugStringConvertible {
    /// Shows only the scope.
    package var description: String { "token for \(scope.rawValue)" }
    /// Shows only the scope.
    package var debugDescription: String { description }
}

/// The settings of a camera: its source, its sinks, and its policies for failures.
package struct CameraSettings: Sendable, Hashable {
    package var name: String
    /// The URI of the source as written, including any secrets.
    package var source: String
    package var sinks: [SinkSettings]
    package var policies: CameraPolicies

    package init(
        name: String, source: String, sinks: [SinkSettings] = [], policies: CameraPolicies = CameraPolicies()
    ) {
        (self.name, self.source, self.sinks, self.policies) = (name, source, sinks, policies)
    }
}

/// A sink of a camera.
package struct SinkSettings: Sendable, Hashable {
    /// The URI with the camera's name filled in, including any secrets.
    package var uri: String
    /// The policy if the sink is slower than the camera; nil for the source's default.
    package var queue: QueuePolicy?
    package var onFailure: SinkFailurePolicy

    package init(uri: String, queue: QueuePolicy? = nil, onFailure: SinkFailurePolicy = .restart()) {
        (self.uri, self.queue, self.onFailure) = (uri, queue, onFailure)
    }
}

/// The policies of a camera for failures and for times without viewers.
package struct CameraPolicies: Sendable, Hashable {
    package var retry = RetryPolicy()
    /// How long the source may take to open, and from frame to frame; nil for the defaults of ``CaptureTimeouts``.
    package var timeout: Duration?
    package var giveUp: Duration?
    package var outage = OutagePolicy.Picture.nothing
    /// How long the source stays open without viewers; nil keeps it open.
    package var closesUnwatchedAfter: Duration?
    package var view = ViewSettings()
    package var record = RecordSettings()
    /// The process in which the source runs.
    package var process = ProcessPolicy.shared
    /// The camera's importance relative to others when the budget of cores is exceeded. The default is normal.
    package var priority = CameraPriority.normal
    /// The qualities that the camera may then lose, in this order. The default is rate, size and key frames.
    package var degrade = DegradeChoice.usual

    /// The steps by which the camera does less, in order.
    var degradeSteps: [DegradeStep] { degrade.flatMap(\.steps) }

    package init() {}
}

/// The process in which the source of a camera runs.
package enum ProcessPolicy: Sendable, Hashable {
    /// The daemon's process.
    case shared
    /// A separate process, with a limit on its memory in bytes; nil for no limit.
    case own(memoryLimit: Int?)

    /// The values in a configuration.
    static let words = ["shared", "own"]
}

/// The settings of the pictures that the server shows of a camera.
package struct ViewSettings: Sendable, Hashable {
    /// The largest size. The default is 1280x720.
    package var largestSize = ImageSize(width: 1280, height: 720)
    /// The highest frame rate. The default is 10.
    package var frameRate = Rational(10)
    /// The quality of the JPEGs from 1 to 100. The default is 75.
    package var quality = 75
}

extension CameraSettings: CustomStringConvertible, CustomDebugStringConvertible {
    /// Shows the name, and the source's URI without credentials.
    package var description: String { "\(name): \(Redaction.redact(uri: source))" }
    /// The same text as ``description``.
    package var debugDescription: String { description }
}

extension SinkSettings: CustomStringConvertible, CustomDebugStringConvertible {
    /// Shows the URI without credentials.
    package var description: String { Redaction.redact(uri: uri) }
    /// The same text as ``description``.
    package var debugDescription: String { description }
}
