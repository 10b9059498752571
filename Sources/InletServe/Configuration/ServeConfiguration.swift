package import InletCapture
package import InletCore
package import InletHTTP

/// What a daemon runs: a value that is read whole or not at all.
package struct ServeConfiguration: Sendable, Hashable {
    package var server = ServerSettings()
    /// The cameras by name.
    package var cameras: [String: CameraSettings] = [:]
    /// The servers that are told of events, by name.
    package var webhooks: [String: WebhookSettings] = [:]
    /// The most cores that all cameras may use together; nil for no limit.
    package var cores: Double?
    /// Which process the source of a camera runs in that does not say so itself.
    package var defaultProcess = ProcessPolicy.shared

    package init() {}

    /// The most cameras of a configuration.
    package static let mostCameras = 256
}

/// Where the daemon's server listens, and who may do what there.
package struct ServerSettings: Sendable, Hashable {
    /// The address to listen at. The default is 127.0.0.1: this machine alone.
    package var host = "127.0.0.1"
    /// The port; 0 lets the system choose one. The default is 8080.
    package var port = 8080
    /// The tokens by name.
    package var tokens: [String: TokenSettings] = [:]
    /// The certificate and key of a server that speaks TLS; nil for plain HTTP, which is the default.
    package var tls: TLSFiles?
    /// The most streams at a time, over all cameras. The default is 64.
    package var streams = 64
    /// The most requests a second of one address, with five seconds' worth at once; 0 for no limit. The default is 100.
    package var requestsPerClient = 100
    /// The most requests a second with one token, with five seconds' worth at once; 0 for no limit. The default is 500.
    package var requestsPerToken = 500
    /// How cameras are sent by WebRTC, as the sink `webrtc:` takes its options, with secrets if it has any. The default
    /// is `webrtc:`.
    package var webRTC = "webrtc:"
    /// Where cameras are handed on by RTSP; nil, the default, for nowhere.
    package var restream: RestreamSettings?
    /// How the server works behind a reverse proxy.
    package var proxy = ProxyRule()
    /// The file that changes are noted in; nil for the log alone, which is the default.
    package var audit: String?

    package init() {}
}

/// A token and what it allows.
package struct TokenSettings: Sendable, Hashable {
    package var scope: AccessScope
    /// The cameras that it allows anything about. The default is all.
    package var cameras = CameraFilter.all
    /// The secret, which no description shows.
    package var secret: String
}

extension TokenSettings: CustomStringConvertible, CustomDebugStringConvertible {
    /// The scope alone.
    package var description: String { "token for \(scope.rawValue)" }
    /// The scope alone.
    package var debugDescription: String { description }
}

/// One camera: its source, its sinks, and what happens when they fail.
package struct CameraSettings: Sendable, Hashable {
    package var name: String
    /// The URI of the source, as it was written, with secrets if it has any.
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
    /// The URI with the name of the camera in it, and with secrets if it has any.
    package var uri: String
    /// What happens when it is slower than the camera; nil for what the source decides.
    package var queue: QueuePolicy?
    package var onFailure: SinkFailurePolicy

    package init(uri: String, queue: QueuePolicy? = nil, onFailure: SinkFailurePolicy = .restart()) {
        (self.uri, self.queue, self.onFailure) = (uri, queue, onFailure)
    }
}

/// What a camera does in trouble and while nobody watches.
package struct CameraPolicies: Sendable, Hashable {
    package var retry = RetryPolicy()
    /// How long the source may take to open and from frame to frame; nil for the defaults of ``CaptureTimeouts``.
    package var timeout: Duration?
    package var giveUp: Duration?
    package var outage = OutagePolicy.Picture.nothing
    /// How long the source stays open while nobody watches; nil keeps it open.
    package var closesUnwatchedAfter: Duration?
    package var view = ViewSettings()
    package var record = RecordSettings()
    /// Which process the source runs in.
    package var process = ProcessPolicy.shared
    /// What the camera matters beside others where the budget of cores is exceeded. The default is normal.
    package var priority = CameraPriority.normal
    /// What it may lose then, the first one first. The default is rate, size and key frames.
    package var degrade = DegradeChoice.usual

    /// The steps by which it does less.
    var degradeSteps: [DegradeStep] { degrade.flatMap(\.steps) }

    package init() {}
}

/// Which process the source of a camera runs in.
package enum ProcessPolicy: Sendable, Hashable {
    /// That of the daemon.
    case shared
    /// One of its own, which may use so many bytes of memory; nil for no limit.
    case own(memoryLimit: Int?)

    /// The words of a configuration.
    static let words = ["shared", "own"]
}

/// The pictures that the server shows of a camera.
package struct ViewSettings: Sendable, Hashable {
    /// The largest size. The default is 1280x720.
    package var largestSize = ImageSize(width: 1280, height: 720)
    /// The highest frame rate. The default is 10.
    package var frameRate = Rational(10)
    /// The quality of the JPEGs from 1 to 100. The default is 75.
    package var quality = 75
}

extension CameraSettings: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name and the source's URI without credentials.
    package var description: String { "\(name): \(Redaction.redact(uri: source))" }
    /// As ``description``.
    package var debugDescription: String { description }
}

extension SinkSettings: CustomStringConvertible, CustomDebugStringConvertible {
    /// The URI without credentials.
    package var description: String { Redaction.redact(uri: uri) }
    /// As ``description``.
    package var debugDescription: String { description }
}
