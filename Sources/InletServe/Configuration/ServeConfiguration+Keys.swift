import InletCapture
import InletCore
import InletHTTP

extension ConfigurationShape {
    /// A whole configuration.
    package static let configuration = ConfigurationShape.object([
        ConfigurationKey("server", "Where the page and the API are, and who may use them", .object(serverKeys)),
        ConfigurationKey("defaults", "What holds for all cameras that do not say otherwise", .object(defaultKeys)),
        ConfigurationKey("cameras", "The cameras by name", isRequired: true, cameras),
        ConfigurationKey(
            "budget", "What all cameras together may take; one that does not fit is refused", default: "no limit",
            .object([
                ConfigurationKey(
                    "cores",
                    "The most cores that all together use: beyond that, those of the lowest priority do less first",
                    default: "no limit", .scalar(.cores)),
                ConfigurationKey(
                    "memory", "The most bytes that the cameras' own processes may be allowed in sum",
                    default: "no limit", .scalar(.bytes)),
            ])),
        ConfigurationKey(
            "webhooks", "Servers that are told of events by POST, by name", default: "none",
            .map(what: "webhook", names: CameraName.rule, .object(webhookKeys), most: 32)),
    ])

    /// The cameras that the API and the overlay change, by name; null removes a camera.
    package static let cameras = ConfigurationShape.map(
        what: "camera", names: CameraName.rule, camera, most: ServeConfiguration.mostCameras)

    /// A camera: the URI of its source, or keys.
    package static let camera = ConfigurationShape.scalarOrObject(
        .uri("the URI of a source, such as rtsp://camera/main"),
        [
            ConfigurationKey(
                "source", "The URI of the source, such as rtsp://camera/main", isRequired: true,
                .scalar(.uri("the URI of a source, such as rtsp://camera/main")))
        ]
            + defaultKeys)

    private static let defaultKeys = [
        ConfigurationKey(
            "sinks", "What the camera is handed to, by URIs in which {camera} stands for its name", default: "none",
            .list(sink, most: 32)),
        ConfigurationKey(
            "retry", "How often a source that failed is opened again: never, forever or so many times in a row",
            default: "forever", .scalar(.repetition)),
        ConfigurationKey(
            "timeout", "How long the source may take to open and from frame to frame", default: "10s",
            .scalar(.time)),
        ConfigurationKey(
            "maximum-lag",
            "The longest time from a packet's arrival to its picture, for sources with that option, unless the URI says it",
            default: "250ms", .scalar(.lag)),
        ConfigurationKey(
            "give-up", "After how long without a frame the camera fails", default: "never", .scalar(.time)),
        ConfigurationKey(
            "outage", "What sinks get while there are no frames", default: "none",
            .scalar(.choice(OutagePolicy.Picture.allCases.map(\.rawValue)))),
        ConfigurationKey(
            "queue", "What happens when a sink is slower than the source: latest, buffered:N or lossless:N",
            default: "latest for live sources, lossless for others", .scalar(.queue)),
        ConfigurationKey(
            "sink-retry", "How often a sink that failed is made anew: never, forever or so many times in a row",
            default: "forever", .scalar(.repetition)),
        ConfigurationKey(
            "on-demand", "Whether the source is closed while nobody watches; a time says after how long (true: 10s)",
            default: "false", .scalar(.onDemand)),
        ConfigurationKey(
            "process",
            "Where the source is read and decoded: own is a process of the camera's, so that a crash costs it alone",
            default: "shared", .scalar(.choice(ProcessPolicy.words))),
        ConfigurationKey(
            "memory", "The most bytes of memory of the camera's own process, which is ended beyond that",
            default: "no limit", .scalar(.bytes)),
        ConfigurationKey(
            "priority", "What the camera matters beside others where the budget of cores is exceeded",
            default: "normal", .scalar(.choice(CameraPriority.allCases.map(\.rawValue)))),
        ConfigurationKey(
            "degrade",
            "What the camera may lose then, the first one first: rate, size, key-frames, pause; [] for nothing",
            default: "rate, size, key-frames",
            .list(.scalar(.choice(DegradeChoice.allCases.map(\.rawValue))), most: DegradeChoice.allCases.count)),
        ConfigurationKey("view", "The pictures of the page and the API", .object(viewKeys)),
        ConfigurationKey("record", "What is recorded on request, from before the request on", .object(recordKeys)),
    ]

    private static let sink = ConfigurationShape.scalarOrObject(
        .uri("the URI of a sink, such as mp4:/srv/{camera}-{n}.mp4"),
        [
            ConfigurationKey(
                "uri", "The URI of the sink", isRequired: true,
                .scalar(.uri("the URI of a sink, such as mp4:/srv/{camera}-{n}.mp4"))),
            ConfigurationKey("queue", "As for the camera, for this sink alone", .scalar(.queue)),
            ConfigurationKey("retry", "As sink-retry of the camera, for this sink alone", .scalar(.repetition)),
        ])

    private static let viewKeys = [
        ConfigurationKey("max-size", "Larger pictures are scaled down to fit", default: "1280x720", .scalar(.size)),
        ConfigurationKey("max-fps", "The most pictures a second", default: "10", .scalar(.rate)),
        ConfigurationKey("quality", "The quality of the JPEGs", default: "75", .scalar(.integer(1...100))),
    ]

    private static let recordKeys = [
        ConfigurationKey(
            "folder", "The folder, in which each camera gets one of its own", default: "none, and nothing is recorded",
            .scalar(.path)),
        ConfigurationKey("before", "How long before the request it begins", default: "10s", .scalar(.time)),
        ConfigurationKey(
            "after", "How long after the request it ends, unless the request says", default: "30s", .scalar(.time)),
        ConfigurationKey("longest", "The longest recording", default: "1h", .scalar(.time)),
        ConfigurationKey(
            "memory", "The most bytes that are kept in memory for the time before the request", default: "32M",
            .scalar(.bytes)),
        ConfigurationKey(
            "keep-size", "The most bytes of all recordings of the camera, above which the oldest are deleted",
            default: "10G", .scalar(.bytes)),
        ConfigurationKey(
            "events", "The kinds of events of the camera that begin a recording", default: "none",
            .list(.scalar(.eventKind), most: 32)),
    ]

    private static let serverKeys = [
        ConfigurationKey(
            "listen", "HOST:PORT to listen at; 0.0.0.0 or :: for all addresses of this machine",
            default: "127.0.0.1:8080", .scalar(.listen)),
        ConfigurationKey(
            "tls", "The certificate and the key of a server that speaks HTTPS; read again when they change",
            default: "none, for plain HTTP",
            .object([
                ConfigurationKey(
                    "certificate", "The file of the certificate and those that lead to its authority, as PEM",
                    isRequired: true, .scalar(.path)),
                ConfigurationKey(
                    "key", "The file of its private key as PEM, which other users may not read", isRequired: true,
                    .scalar(.path)),
            ])),
        ConfigurationKey(
            "streams", "The most streams at a time, over all cameras", default: "64", .scalar(.integer(1...1024))),
        ConfigurationKey(
            "webrtc", "How cameras are sent by WebRTC: the options of the sink webrtc:, as webrtc:?viewers=20",
            default: "webrtc:", .scalar(.uri("webrtc: with options, such as webrtc:?max-size=1920x1080"))),
        ConfigurationKey(
            "restream",
            "HOST:PORT at which other programs read all cameras by RTSP, as rtsp://HOST:PORT/NAME, packets as they are",
            default: "none", .scalar(.listen)),
        ConfigurationKey(
            "requests", "The most requests a second, of which five seconds' worth may come at once; 0 for no limit",
            .object([
                ConfigurationKey(
                    "per-client", "Of one address, or one network of IPv6 (/64)", default: "100",
                    .scalar(.integer(0...100_000))),
                ConfigurationKey("per-token", "With one token", default: "500", .scalar(.integer(0...100_000))),
            ])),
        ConfigurationKey(
            "base-path", "The path below which a reverse proxy that does not remove it serves the page, such as /cams",
            default: "none", .scalar(.basePath)),
        ConfigurationKey(
            "trusted-proxies",
            "Addresses or networks of reverse proxies, whose X-Forwarded-For or Forwarded states a client's address",
            default: "none", .list(.scalar(.network), most: 32)),
        ConfigurationKey(
            "audit", "The file that each change is appended to, as a line of JSON", default: "the log alone",
            .scalar(.path)),
        ConfigurationKey(
            "tokens", "Tokens by name, each with what it allows",
            default: "none at a loopback address, one made for the run elsewhere",
            .map(what: "token", names: CameraName.rule, .object(tokenKeys), most: 64)),
    ]

    private static let tokenKeys = [
        ConfigurationKey(
            "scope", "What it allows: view, control, or admin, each with all before it", isRequired: true,
            .scalar(.choice(AccessScope.allCases.map(\.rawValue)))),
        ConfigurationKey(
            "cameras", "The names of the cameras that it is for, in which * stands for any characters", default: "all",
            .list(.scalar(.cameraPattern), most: 256)),
        ConfigurationKey("file", "The file that holds the token in one line", .scalar(.path)),
        ConfigurationKey("env", "The environment variable that holds the token", .scalar(.path)),
        ConfigurationKey(
            "credential", "The systemd credential that holds the token (LoadCredential=)", .scalar(.path)),
    ]

    private static let webhookKeys = [
        ConfigurationKey(
            "url", "The address that events are posted to, or where it stands, if it is a secret", isRequired: true,
            .scalarOrObject(
                .uri("an address such as https://host/path"),
                [
                    ConfigurationKey("file", "The file that holds the address in one line", .scalar(.path)),
                    ConfigurationKey("env", "The environment variable that holds the address", .scalar(.path)),
                    ConfigurationKey(
                        "credential", "The systemd credential that holds the address", .scalar(.path)),
                ])),
        ConfigurationKey(
            "kinds", "The kinds of events that are sent, as /v1/events shows them", default: "all",
            .list(.scalar(.eventKind), most: 32)),
        ConfigurationKey(
            "cameras", "The names of the cameras of which events are sent, in which * stands for any characters",
            default: "all, and what concerns no camera", .list(.scalar(.cameraPattern), most: 256)),
        ConfigurationKey(
            "secret", "Where the secret stands by which requests are signed", default: "none, and no signature",
            .object([
                ConfigurationKey("file", "The file that holds the secret in one line", .scalar(.path)),
                ConfigurationKey("env", "The environment variable that holds the secret", .scalar(.path)),
                ConfigurationKey("credential", "The systemd credential that holds the secret", .scalar(.path)),
            ])),
        ConfigurationKey("ca", "The PEM file of certificate authorities", default: "the system's", .scalar(.path)),
        ConfigurationKey(
            "timeout", "The most time for a request, up to the status of the answer", default: "10s", .scalar(.time)),
        ConfigurationKey(
            "attempts", "How often an event is sent before it is given up", default: "10",
            .scalar(.integer(1...100))),
        ConfigurationKey(
            "queue", "The most events that wait; above it the oldest is dropped", default: "256",
            .scalar(.integer(1...4096))),
    ]
}
