// swift-tools-version: 6.2
import PackageDescription

// Swift 6 mode, strict memory safety, and every warning an error, in every target.
let houseSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // `Span` accessors on the buffer types:
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0456-stdlib-span-properties.md
    .enableExperimentalFeature("Lifetimes"),
]

/// A first-party plug-in: one target, one product, and a folder in `Plugins/`, or a part of one for a back end with
/// several.
///
/// - Parameter hasPages: whether HTML pages in its folder become constants of its code.
func plugin(
    _ name: String, in folder: String, _ dependencies: [Target.Dependency], hasPages: Bool = false
) -> Target {
    .target(
        name: name, dependencies: ["InletCore"] + dependencies, path: "Plugins/\(folder)", exclude: ["README.md"],
        swiftSettings: houseSettings, plugins: hasPages ? ["EmbedTexts"] : [])
}

/// A module in one of the folders of `Sources/`.
///
/// - Parameter hasTexts: whether texts in its folder, such as HTML pages, become constants of its code.
func library(
    _ name: String, in folder: String, _ dependencies: [Target.Dependency], hasTexts: Bool = false
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", swiftSettings: houseSettings,
        plugins: hasTexts ? ["EmbedTexts"] : [])
}

/// A target that exists only with the trait GStreamer.
func withGStreamer(_ name: String) -> Target.Dependency { .target(name: name, condition: .when(traits: ["GStreamer"])) }

/// Links libraries of GStreamer, and those that all of them need, with the trait GStreamer.
func linkGStreamer(_ libraries: [String]) -> [LinkerSetting] {
    let names =
        (libraries + ["gstapp", "gstreamer"]).map { "\($0)-1.0" } + ["gio", "gobject", "glib"].map { "\($0)-2.0" }
    return names.map { .linkedLibrary($0, .when(traits: ["GStreamer"])) }
}

/// The tests of a module, in a folder of `Tests/` named like the module's folder in `Sources/`, or of a plug-in, in
/// `Tests/Plugins/`.
func tests(
    _ name: String, in folder: String? = nil, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: folder.map { "Tests/\($0)/\(name)" }, exclude: exclude,
        swiftSettings: houseSettings)
}

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let metricsTestKit: Target.Dependency = .product(name: "MetricsTestKit", package: "swift-metrics")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let collections: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")

// For sinks that are web servers. A program that does not use such a product does not compile it.
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
]

let package = Package(
    name: "inlet",
    products: [
        .library(name: "Inlet", targets: ["Inlet"]),
        .library(name: "InletCore", targets: ["InletCore"]),
        .library(name: "InletConvert", targets: ["InletConvert"]),
        .library(name: "InletDecode", targets: ["InletDecode"]),
        .library(name: "InletCapture", targets: ["InletCapture"]),
        .library(name: "InletPluginLoader", targets: ["InletPluginLoader"]),
        .library(name: "InletTesting", targets: ["InletTesting"]),
        .library(name: "InletSignalingTesting", targets: ["InletSignalingTesting"]),
        .library(name: "InletPluginSDK", targets: ["InletPluginSDK"]),
        .library(name: "PatternSource", targets: ["PatternSource"]),
        .library(name: "InjectSource", targets: ["InjectSource"]),
        .library(name: "FFmpegSource", targets: ["FFmpegSource"]),
        .library(name: "RTSPSource", targets: ["RTSPSource"]),
        .library(name: "FFmpegDecoder", targets: ["FFmpegDecoder"]),
        .library(name: "TurboJPEGDecoder", targets: ["TurboJPEGDecoder"]),
        .library(name: "FFmpegFilter", targets: ["FFmpegFilter"]),
        .library(name: "FileSinks", targets: ["FileSinks"]),
        .library(name: "FFmpegSink", targets: ["FFmpegSink"]),
        .library(name: "PipeSink", targets: ["PipeSink"]),
        .library(name: "StillSinks", targets: ["StillSinks"]),
        .library(name: "PreviewSink", targets: ["PreviewSink"]),
        .library(name: "InletRTC", targets: ["InletRTC"]),
        .library(name: "WebRTCSink", targets: ["WebRTCSink"]),
        .library(name: "WebRTCSource", targets: ["WebRTCSource"]),
        .library(name: "KinesisPlugin", targets: ["KinesisPlugin"]),
        .library(name: "RoomsPlugin", targets: ["RoomsPlugin"]),
        .library(name: "InletV4L2", targets: ["InletV4L2"]),
        .library(name: "ScreenSource", targets: ["ScreenSource"]),
        .library(name: "V4L2Source", targets: ["V4L2Source"]),
        .library(name: "V4L2Sink", targets: ["V4L2Sink"]),
        .library(name: "InletCommand", targets: ["InletCommand"]),
        .executable(name: "inlet", targets: ["InletCLI"]),
        .executable(name: "inlet-plugin-host", targets: ["InletPluginHost"]),
    ],
    traits: [
        .trait(
            name: "GStreamer",
            description:
                "Video to and from browsers by WebRTC, and an RTSP server. Install it: Scripts/bootstrap --webrtc.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .plugin(name: "EmbedTexts", capability: .buildTool(), path: "Scripts/EmbedTexts"),

        .systemLibrary(
            name: "CFFmpeg", path: "Sources/C/CFFmpeg", pkgConfig: "libavformat",
            providers: [.apt(["libavformat-dev", "libavcodec-dev", "libswscale-dev"])]),
        // libavutil only, for MD5, so that a program that needs nothing else of FFmpeg links only this library.
        .systemLibrary(
            name: "CAVUtil", path: "Sources/C/CAVUtil", pkgConfig: "libavutil",
            providers: [.apt(["libavutil-dev"])]),
        .systemLibrary(
            name: "CTurboJPEG", path: "Sources/C/CTurboJPEG", pkgConfig: "libturbojpeg",
            providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CYUV", path: "Sources/C/CYUV", providers: [.apt(["libyuv-dev"])]),

        // The headers are used only with the trait GStreamer.
        .systemLibrary(
            name: "CGStreamer", path: "Sources/C/CGStreamer", pkgConfig: "gstreamer-sdp-1.0",
            providers: [
                .apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev", "libgstrtspserver-1.0-dev"])
            ]),
        // The build of libsrt that libavformat is linked with, because a process can have only one libsrt.
        .systemLibrary(
            name: "CSRT", path: "Sources/C/CSRT", pkgConfig: "srt",
            providers: [.apt(["libsrt-gnutls-dev"])]),
        .target(name: "CLinux", path: "Sources/C/CLinux"),
        // System-call filters, only for the processes of plug-ins.
        .systemLibrary(
            name: "CSeccomp", path: "Sources/C/CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]
        ),
        .target(name: "CV4L2", path: "Sources/C/CV4L2"),
        // The YAML parser for configurations.
        .systemLibrary(
            name: "CYAML", path: "Sources/C/CYAML", pkgConfig: "yaml-0.1",
            providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CV4LConvert", path: "Sources/C/CV4LConvert", providers: [.apt(["libv4l-dev"])]),

        // libcurl, loaded on first use: many processes read no HTTP.
        .target(name: "CCurl", path: "Sources/C/CCurl"),
        // OpenSSL, also loaded on first use, for TLS over Inlet's own connections.
        .target(name: "COpenSSL", path: "Sources/C/COpenSSL"),
        // libxcb and its extensions, also loaded on first use, for screens.
        .target(name: "CXCB", path: "Sources/C/CXCB"),
        // libavfilter, also loaded on first use, for filters of pictures. The headers are in libavfilter-dev.
        .target(name: "CAVFilter", path: "Sources/C/CAVFilter"),
        // libpipewire and sd-bus, also loaded on first use, for the screens of Wayland sessions.
        .systemLibrary(
            name: "CSPA", path: "Sources/C/CSPA", pkgConfig: "libspa-0.2", providers: [.apt(["libspa-0.2-dev"])]),
        .target(
            name: "CScreenCast", dependencies: ["CSPA"],
            path: "Sources/C/CScreenCast"),

        // A WebRTC peer by GStreamer. Without the trait, it only reports that GStreamer is missing.
        .target(
            name: "CGStreamerPeer", dependencies: [withGStreamer("CGStreamer")], path: "Sources/C/CGStreamerPeer",
            cSettings: [.define("INLET_GSTREAMER", .when(traits: ["GStreamer"]))],
            linkerSettings: linkGStreamer(["gstvideo", "gstrtp", "gstsdp"])),
        // An RTSP server of packets, only with the trait.
        .target(
            name: "CRestream", dependencies: [withGStreamer("CGStreamer")], path: "Sources/C/CRestream",
            cSettings: [.define("INLET_RESTREAM", .when(traits: ["GStreamer"]))],
            linkerSettings: linkGStreamer(["gstrtspserver", "gstrtsp"])),

        // inlet_plugin.h, the interface of third-party plug-ins, and the protocol of their child processes.
        .target(name: "CInletPlugin", path: "Sources/C/CInletPlugin"),
        // The entry of plug-ins in Swift.
        .target(name: "CInletPluginEntry", dependencies: ["CInletPlugin"], path: "Sources/C/CInletPluginEntry"),
        // Calls a plug-in through its C interface to verify it.
        .target(
            name: "CInletExercise", dependencies: ["CInletPlugin"], path: "Sources/C/CInletExercise",
            cSettings: [.define("_GNU_SOURCE")]),

        library("InletCore", in: "Core", [logging]),
        // Threads, wake-ups, the clock and system errors, for the modules and plug-ins of this package.
        library("InletSystem", in: "Core", ["InletCore", "CLinux"]),
        // Loops over samples that no library offers, or not as fast.
        .target(name: "CInletConvert", path: "Sources/C/CInletConvert"),
        library("InletConvert", in: "Core", ["InletCore", "CFFmpeg", "CYUV", "CInletConvert"]),
        // From packets to pictures with any decoder: which packets to decode, which pictures to show or drop.
        library("InletDecode", in: "Core", ["InletCore", "InletSystem", collections]),
        library("InletFFmpeg", in: "Media", ["InletCore", "InletSystem", "CFFmpeg", logging]),
        // Network addresses, what they may reach, and name lookup.
        library("InletNetwork", in: "Network", ["InletCore"]),
        // Hash functions that protocols prescribe.
        library("InletDigest", in: "Core", ["CAVUtil"]),
        // From RTP packets to access units, and from RTSP messages to a session. No input, output or clock.
        library("InletRTP", in: "Media", ["InletCore", "InletSystem"]),
        library("InletRTSP", in: "Media", ["InletCore", "InletDigest"]),
        // Shared parts of everything that writes bytes.
        library("InletOutput", in: "Core", ["InletCore", "InletSystem", "CLinux"]),
        // Other programs: their command lines, pipes and deadlines.
        library("InletPrograms", in: "Core", ["InletCore", "InletSystem", "InletOutput", "CLinux"]),
        // WebRTC without the media engine: sessions, signaling, rates.
        library("InletRTC", in: "WebRTC", ["InletCore", "InletSystem", "InletDigest"]),
        // Shared parts of sinks that are web servers.
        library("InletHTTPServer", in: "Server", ["InletCore", "InletSystem", "InletDigest", logging] + nio),
        // TLS for NIO channels with the system's OpenSSL.
        library("InletTLS", in: "Network", ["InletCore", "COpenSSL", .product(name: "NIOCore", package: "swift-nio")]),
        // A WebSocket client.
        library(
            "InletWebSocket", in: "Network",
            [
                "InletCore", "InletTLS", "InletDigest", collections,
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ] + nio),
        library("InletV4L2", in: "Media", ["InletCore", "InletSystem", "CV4L2"]),
        // Messages between Inlet and the child process of a plug-in, for both ends.
        library("InletPluginIPC", in: "PluginSupport", ["InletCore", "InletSystem", "CInletPlugin", "CLinux"]),
        // Third-party plug-ins: sources and sinks in a separate process, or loaded into this one.
        library(
            "InletPluginLoader", in: "PluginSupport",
            [
                "InletCore", "InletSystem", "InletFFmpeg", "InletDecode", "InletPluginIPC", "CInletPlugin", "CLinux",
                logging,
            ], hasTexts: true),
        // Makes a source written in Swift a plug-in: a shared library with the entry of inlet_plugin.h.
        library(
            "InletPluginSDK", in: "PluginSupport",
            ["InletCore", "InletSystem", "InletPluginIPC", "CInletPlugin", "CInletPluginEntry", "CLinux", logging]),
        // Verifies that a plug-in keeps its contract, for `inlet plugins verify`.
        library(
            "InletPluginVerify", in: "PluginSupport",
            ["InletCore", "InletCapture", "InletPluginLoader", "InletTesting", logging]),
        library(
            "InletCapture", in: "Core",
            [
                "InletCore", "InletSystem", "InletConvert", "InletDecode", "InletOutput", "CLinux", logging, metrics,
                collections,
            ]),
        library(
            "Inlet", in: "Core",
            [
                "InletCore", "InletSystem", "InletConvert", "InletDecode", "InletCapture", "PatternSource",
                "InjectSource", "FFmpegSource", "RTSPSource", "FFmpegDecoder", "TurboJPEGDecoder", "FFmpegFilter",
                "FFmpegSink", "FileSinks", "PipeSink", "StillSinks", "PreviewSink",
                "InletPluginLoader", "InletV4L2", "V4L2Source", "V4L2Sink",
                "ScreenSource",
                withGStreamer("InletRTC"),
                withGStreamer("WebRTCSink"),
                withGStreamer("WebRTCSource"),
                withGStreamer("KinesisPlugin"),
                withGStreamer("RoomsPlugin"),
            ]),
        library(
            "WebRTCEngine", in: "WebRTC",
            [
                "InletCore", "InletSystem", "InletRTC", "InletHTTPServer", "InletTLS", "InletWebSocket",
                "CGStreamerPeer", logging,
            ] + nio),
        // Test kits for authors of plug-ins. Only the kit for signaling services needs InletRTC.
        library("InletTesting", in: "Testing", ["InletCore", "InletSystem", logging]),
        library("InletSignalingTesting", in: "Testing", ["InletCore", "InletRTC", "InletTesting"]),

        plugin("PatternSource", in: "Pattern", []),
        plugin("InjectSource", in: "Inject", ["InletSystem", "InletConvert", "InletDecode", collections]),
        plugin(
            "FFmpegSource", in: "FFmpeg/Source",
            ["InletSystem", "InletNetwork", "InletDecode", "InletFFmpeg", "CFFmpeg", "CCurl"]),
        plugin(
            "RTSPSource", in: "RTSP",
            ["InletSystem", "InletNetwork", "InletDecode", "InletFFmpeg", "InletRTP", "InletRTSP", "COpenSSL", logging]),
        plugin("FFmpegDecoder", in: "FFmpeg/Decoder", ["InletFFmpeg"]),
        plugin("TurboJPEGDecoder", in: "TurboJPEG", ["CTurboJPEG"]),
        plugin("FFmpegFilter", in: "Filter", ["InletFFmpeg", "CFFmpeg", "CAVFilter"]),
        plugin("FileSinks", in: "Files", ["InletOutput", "CAVUtil"]),
        plugin(
            "FFmpegSink", in: "FFmpeg/Sink",
            ["InletSystem", "InletNetwork", "InletOutput", "InletFFmpeg", "CFFmpeg", "CSRT", logging]),
        plugin("ScreenSource", in: "Screen", ["InletSystem", "InletOutput", "CXCB", "CScreenCast", logging]),
        plugin(
            "V4L2Source", in: "V4L2/Source",
            ["InletDecode", "InletV4L2", "InletFFmpeg", "CV4L2", "CV4LConvert", logging]),
        plugin("V4L2Sink", in: "V4L2/Sink", ["InletV4L2", "InletFFmpeg", "CV4L2", "CYUV"]),
        plugin("PipeSink", in: "Pipe", ["InletSystem", "InletOutput", "InletPrograms", "CLinux"]),
        plugin("StillSinks", in: "Stills", ["InletSystem", "InletOutput", "InletFFmpeg"]),
        plugin("PreviewSink", in: "Preview", ["InletFFmpeg", "InletHTTPServer", logging] + nio, hasPages: true),
        plugin(
            "WebRTCSink", in: "WebRTC/Sink",
            [
                "InletSystem", "InletRTC", "WebRTCEngine", "InletHTTPServer", "InletConvert", "CGStreamerPeer",
                logging, metrics,
            ] + nio,
            hasPages: true),

        plugin(
            "WebRTCSource", in: "WebRTC/Source",
            [
                "InletSystem", "InletDecode", "InletFFmpeg", "InletRTP", "InletRTC", "WebRTCEngine", "InletHTTPServer",
                logging,
            ] + nio,
            hasPages: true),
        plugin(
            "KinesisPlugin", in: "Kinesis",
            [
                "InletSystem", "InletPrograms", "InletRTC", "WebRTCEngine", "InletWebSocket", "InletTLS", "InletDigest",
                logging,
            ]),

        plugin(
            "RoomsPlugin", in: "Rooms",
            [
                "InletSystem", "InletRTC", "InletHTTPServer", "InletTLS", "InletWebSocket", "InletDigest", logging,
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ] + nio,
            hasPages: true),

        // The daemon: its configuration, the cameras that it runs, and its HTTP server.
        library(
            "InletServe", in: "Server",
            [
                "InletCore", "InletSystem", "InletCapture", "InletFFmpeg", "InletHTTPServer", "InletOutput", "InletTLS",
                "InletDigest", "CYAML", logging, lifecycle, signals, collections,
            ] + nio, hasTexts: true),
        // Serves the daemon's cameras to other programs over RTSP.
        library("InletRestream", in: "Server", ["InletCore", "InletServe", withGStreamer("CRestream")]),
        // The command, for programs that add their own plug-ins.
        library(
            "InletCommand", in: "Tool",
            [
                "Inlet", "InletSystem", "InletHTTPServer", "InletOutput", "InletRTC", "InletRTSP", "InletServe",
                "RTSPSource",
                "RoomsPlugin", "InletPluginVerify", withGStreamer("WebRTCSink"),
                withGStreamer("InletRestream"),
                argumentParser, logging,
            ] + nio, hasTexts: true),
        .executableTarget(
            name: "InletCLI", dependencies: ["InletCommand"], path: "Sources/Tool/InletCLI",
            swiftSettings: houseSettings),

        // The child process of a third-party plug-in. It does not link libav, because a plug-in may bring its own.
        .executableTarget(
            name: "InletPluginHost",
            dependencies: [
                "InletCore", "InletSystem", "InletPluginIPC", "CInletPlugin", "CInletExercise", "CLinux", "CSeccomp",
            ],
            path: "Sources/PluginSupport/InletPluginHost", swiftSettings: houseSettings),

        .executableTarget(
            name: "FirstFrame", dependencies: ["Inlet"], path: "Samples/FirstFrame", swiftSettings: houseSettings),
        .executableTarget(
            name: "Webcam", dependencies: ["Inlet"], path: "Samples/Webcam", swiftSettings: houseSettings),
        .executableTarget(
            name: "NetworkCamera", dependencies: ["Inlet"], path: "Samples/NetworkCamera", swiftSettings: houseSettings),
        .executableTarget(
            name: "InjectedFrames", dependencies: ["Inlet"], path: "Samples/InjectedFrames",
            swiftSettings: houseSettings),
        .executableTarget(
            name: "VideoCall", dependencies: ["Inlet"], path: "Samples/VideoCall", swiftSettings: houseSettings),
        .executableTarget(
            name: "WebSocketRoom",
            dependencies: ["Inlet"], path: "Samples/WebSocketRoom", exclude: ["viewer.py"], swiftSettings: houseSettings
        ),

        .target(name: "CBare", dependencies: ["CFFmpeg", "CYUV"], path: "Tests/Benchmarks/CBare"),
        .executableTarget(
            name: "BridgeBenchmark", dependencies: ["Inlet", "CBare", logging], path: "Tests/Benchmarks/Bridge",
            swiftSettings: houseSettings),
        .executableTarget(
            name: "PluginBenchmark", dependencies: ["InletCore", "InletCapture", "InletPluginLoader", logging],
            path: "Tests/Benchmarks/Plugins", swiftSettings: houseSettings),

        .executableTarget(
            name: "ConvertBenchmark", dependencies: ["Inlet", "CBare"], path: "Tests/Benchmarks/Convert",
            swiftSettings: houseSettings),

        // The Swift examples of the documents, compiled as users compile them: without the settings of this package.
        .executableTarget(name: "DocumentSnippets", dependencies: ["Inlet"], path: "Tests/DocumentSnippets"),

        // The reference for tests: other programs, and pictures that they made.
        .target(
            name: "ReferenceTools", dependencies: ["InletCore", logging], path: "Tests/ReferenceTools",
            swiftSettings: houseSettings),
        tests("InletCoreTests", in: "Core", ["InletCore", "InletTesting", logging]),
        tests("InletDecodeTests", in: "Core", ["InletCore", "InletDecode", "InletTesting", "ReferenceTools", logging]),
        tests(
            "InletConvertTests", in: "Core", ["InletCore", "InletConvert", "InletTesting", "ReferenceTools", "CFFmpeg"]),
        tests(
            "InletCaptureTests", in: "Core",
            [
                "InletCore", "InletSystem", "InletConvert", "InletDecode", "InletCapture", "InletTesting",
                "PatternSource", "ReferenceTools", logging, metrics, metricsTestKit,
            ]),
        tests(
            "InletTestingTests", in: "Testing",
            ["InletCore", "InletTesting", "PatternSource", "ReferenceTools", logging]),
        tests(
            "InletSignalingTestingTests", in: "Testing",
            ["InletCore", "InletRTC", "InletSignalingTesting", "InletTesting"]),
        tests(
            "PatternSourceTests", in: "Plugins",
            ["InletCore", "InletTesting", "PatternSource", "ReferenceTools", logging]),
        tests(
            "InjectSourceTests", in: "Plugins",
            [
                "InletCore", "InletSystem", "InletCapture", "InletTesting", "InjectSource", "PatternSource",
                "FFmpegSource", "FFmpegDecoder", "ReferenceTools", logging,
            ]),
        tests(
            "ScreenSourceTests", in: "Plugins",
            [
                "InletCore", "InletCapture", "InletTesting", "ScreenSource", "PatternSource",
                "ReferenceTools", logging,
            ]),
        tests(
            "FFmpegSourceTests", in: "Plugins",
            [
                "InletCore", "InletConvert", "InletCapture", "InletDecode", "InletFFmpeg", "InletNetwork",
                "InletTesting",
                "FFmpegSource", "RTSPSource", "ReferenceTools", logging,
            ]),
        tests(
            "TurboJPEGDecoderTests", in: "Plugins",
            [
                "InletCore", "InletDecode", "InletFFmpeg", "InletTesting", "TurboJPEGDecoder", "FFmpegSource",
                "ReferenceTools", logging,
            ]),
        tests(
            "FFmpegFilterTests", in: "Plugins",
            ["InletCore", "FFmpegFilter", "ReferenceTools"]),
        tests("InletFFmpegTests", in: "Media", ["InletCore", "InletFFmpeg", "ReferenceTools", "CFFmpeg"]),
        tests("InletSystemTests", in: "Core", ["InletCore", "InletSystem", "ReferenceTools"]),
        tests("InletNetworkTests", in: "Network", ["InletCore", "InletNetwork"]),
        tests("InletDigestTests", in: "Core", ["InletDigest", "ReferenceTools"]),
        tests("InletRTPTests", in: "Media", ["InletCore", "InletRTP"]),
        tests("InletRTSPTests", in: "Media", ["InletCore", "InletRTSP"]),
        tests(
            "RTSPSourceTests", in: "Plugins",
            [
                "InletCore", "InletSystem", "InletNetwork", "InletFFmpeg", "InletDecode", "InletRTP", "InletRTSP",
                "InletTesting", "RTSPSource",
                "FFmpegDecoder", "ReferenceTools", "InletDigest", logging,
            ]),
        tests("InletV4L2Tests", in: "Media", ["InletCore", "InletV4L2", "CV4L2"]),
        tests(
            "V4L2SourceTests", in: "Plugins",
            [
                "InletCore", "InletConvert", "InletDecode", "InletTesting", "InletV4L2", "InletFFmpeg", "CV4L2",
                "V4L2Source", "V4L2Sink", "ReferenceTools", logging,
            ]),
        tests("V4L2SinkTests", in: "Plugins", ["InletCore", "InletV4L2", "V4L2Sink"]),
        // Runs in a virtual machine with virtual cameras. Its only test outside starts that machine.
        tests(
            "V4L2DriverTests", in: "Plugins",
            [
                "InletCore", "InletConvert", "InletDecode", "InletCapture", "InletTesting", "InletV4L2", "V4L2Source",
                "V4L2Sink", "ReferenceTools",
                "PatternSource", "Inlet", logging,
            ]),
        tests(
            "InletPluginSDKTests", in: "PluginSupport",
            [
                "InletCore", "InletSystem", "InletPluginSDK", "InletPluginIPC", "CInletPlugin", "PatternSource",
                "ReferenceTools",
            ]),
        tests("InletOutputTests", in: "Core", ["InletCore", "InletOutput", "ReferenceTools"]),
        tests("InletProgramsTests", in: "Core", ["InletCore", "InletSystem", "InletPrograms", "ReferenceTools"]),
        tests(
            "FileSinksTests", in: "Plugins",
            ["InletCore", "InletTesting", "FileSinks", "InletOutput", "ReferenceTools", logging]),
        tests(
            "FFmpegSinkTests", in: "Plugins",
            [
                "InletCore", "InletCapture", "InletOutput", "InletTesting", "FFmpegSink", "PatternSource",
                "ReferenceTools", logging,
            ]),
        tests(
            "PipeSinkTests", in: "Plugins",
            ["InletCore", "InletSystem", "InletCapture", "InletTesting", "PatternSource", "PipeSink", "ReferenceTools"]),
        tests(
            "StillSinksTests", in: "Plugins",
            ["InletCore", "InletCapture", "InletTesting", "PatternSource", "StillSinks", "ReferenceTools"]),
        tests(
            "PreviewSinkTests", in: "Plugins",
            [
                "InletCore", "InletCapture", "InletTesting", "FileSinks", "PatternSource", "PreviewSink", "InletCLI",
                "ReferenceTools", logging,
            ]),
        tests(
            "InletHTTPServerTests", in: "Server",
            ["InletCore", "InletHTTPServer", logging, .product(name: "NIOEmbedded", package: "swift-nio")] + nio),
        tests("InletRTCTests", in: "WebRTC", ["InletCore", "InletRTC", "InletTesting"]),
        tests(
            "KinesisPluginTests", in: "Plugins",
            [
                "InletCore", "InletRTC", "InletWebSocket", "InletTesting", "KinesisPlugin", "PatternSource",
                "InletCapture", "FFmpegDecoder", "FFmpegSink", "WebRTCSink", "WebRTCSource", "ReferenceTools", logging,
            ]),
        tests(
            "InletWebSocketTests", in: "Network",
            [
                "InletCore", "InletTLS", "InletWebSocket", "ReferenceTools",
                .product(name: "NIOCore", package: "swift-nio"),
            ]),
        tests(
            "WebRTCSinkTests", in: "Plugins",
            [
                "InletCore", "InletCapture", "InletHTTPServer", "InletRTC", "InletTesting", "FFmpegSource",
                "FFmpegSink",
                "PatternSource", "FFmpegDecoder",
                "InletCLI", "WebRTCEngine", "ReferenceTools", metrics, metricsTestKit, withGStreamer("WebRTCSink"),
                "WebRTCSource", "CGStreamerPeer", withGStreamer("CGStreamer"),
            ]),
        tests(
            "RoomsPluginTests", in: "Plugins",
            [
                "InletCore", "InletSystem", "InletRTC", "InletSignalingTesting", "InletTesting", "InletWebSocket",
                "PatternSource", "InletCapture",
                "FFmpegSink", "RoomsPlugin", "InletCLI", "ReferenceTools", logging, withGStreamer("WebRTCSink"),
            ]),
        tests(
            "InletPluginLoaderTests", in: "PluginSupport",
            [
                "InletCore", "InletSystem", "InletDecode", "InletCapture", "InletPluginIPC", "InletPluginLoader",
                "InletTesting", "ReferenceTools", "CInletPlugin", "CLinux", logging,
            ], exclude: ["Process/child.py"]),
        tests(
            "InletPluginHostTests", in: "PluginSupport",
            ["InletCore", "InletSystem", "InletPluginIPC", "CInletPlugin", "CLinux", "ReferenceTools"]),
        tests("ReferenceToolsTests", ["InletCore", "InletTesting", "PatternSource", "ReferenceTools"]),
        tests(
            "IntegrationTests",
            [
                "Inlet", "InletCLI", "InletDigest", "DocumentSnippets", "InletTesting", "PatternSource",
                "ReferenceTools",
                logging,
            ]),
        tests("InletCommandTests", in: "Tool", ["Inlet", "InletCommand"]),
        tests(
            "InletServeTests", in: "Server",
            [
                "Inlet", "InletHTTPServer", "InletOutput", "InletServe", "InletSystem", "InletCLI", "InletTesting",
                "ReferenceTools",
                logging, .product(name: "NIOEmbedded", package: "swift-nio"),
            ] + nio),
        tests("HouseTests", []),
    ]
)

// A build with a sanitizer contains only the test targets that run there. `Scripts/test` lists them in the environment.
if let names = Context.environment["INLET_TESTS"] {
    let named = Set(names.split(separator: ",").map(String.init))
    package.targets.removeAll { $0.type == .test && !named.contains($0.name) }
}
