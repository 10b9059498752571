/// Dependencies run one way: the core knows nothing of the rest, a plug-in nothing of another or of the bridge.
enum ImportRule {
    /// The Swift runtime's own modules, for everyone.
    static let standard: Set<String> = ["Swift", "Synchronization"]
    /// The C library, for modules that talk to the system. Foundation is not among them.
    static let system: Set<String> = ["Glibc", "Musl", "Darwin", "Dispatch"]

    /// What each module in `Sources` may import besides ``standard``. A new module gets its line here and in
    /// `Package.swift`.
    static let sources: [String: Set<String>] = [
        // Dispatch for the queues on which timers of a clock call.
        "InletCore": ["Logging", "Dispatch"],
        "InletSystem": system.union(["InletCore", "CLinux"]),
        "InletConvert": system.union(["InletCore", "CFFmpeg", "CYUV", "CInletConvert"]),
        "InletDecode": system.union(["InletCore", "DequeModule"]),
        // InletSystem is for the processor time of libavcodec's threads.
        "InletFFmpeg": system.union(["InletCore", "InletSystem", "CFFmpeg", "Logging"]),
        "InletRTP": ["InletCore", "InletSystem"],
        "InletRTSP": ["InletCore", "Crypto"],
        "InletOutput": system.union(["InletCore", "InletSystem", "CLinux"]),
        "InletRTC": ["InletCore", "InletSystem", "Crypto", "FoundationEssentials"],
        "InletHTTP": system.union([
            "InletCore", "InletSystem", "NIOCore", "NIOPosix", "NIOHTTP1", "Logging", "Crypto", "FoundationEssentials",
        ]),
        "InletV4L2": system.union(["InletCore", "InletSystem", "CV4L2"]),
        "InletPlugins": system.union([
            "InletCore", "InletSystem", "InletFFmpeg", "InletDecode", "InletPluginWire", "CInletPlugin", "CLinux",
            "Logging", "FoundationEssentials",
        ]),
        "InletPluginWire": system.union(["InletCore", "InletSystem", "CInletPlugin", "CLinux"]),
        "InletPluginHost": system.union([
            "InletCore", "InletSystem", "InletPluginWire", "CInletPlugin", "CInletExercise", "CLinux", "CSeccomp",
        ]),
        "InletPluginKit": system.union([
            "InletCore", "InletSystem", "InletPluginWire", "CInletPlugin", "CInletPluginEntry", "CLinux", "Logging",
        ]),
        "InletPluginVerify": [
            "InletCore", "InletCapture", "InletPlugins", "InletTesting", "Logging", "FoundationEssentials",
        ],
        "InletCapture": system.union([
            "InletCore", "InletSystem", "InletConvert", "InletDecode", "InletOutput", "Logging", "CoreMetrics",
            "DequeModule", "CLinux",
        ]),
        // Foundation is for the client of HTTP, TLS and NIOPosix for the way to relays over TLS.
        "InletWebRTC": system.union([
            "InletCore", "InletSystem", "InletRTC", "InletHTTP", "InletTLS", "InletWebSocket", "NIOHTTP1", "CGStreamer",
            "NIOCore", "NIOPosix", "Foundation", "FoundationNetworking", "Logging",
        ]),
        "InletTLS": ["InletCore", "COpenSSL", "NIOCore"],
        "InletWebSocket": [
            "InletCore", "InletTLS", "Crypto", "DequeModule", "NIOCore", "NIOPosix", "NIOWebSocket",
            "FoundationEssentials",
        ],
        "InletTesting": system.union(["InletCore", "InletSystem", "Logging"]),
        "InletSignalingTesting": ["InletCore", "InletRTC", "InletTesting"],
        // The umbrella re-exports the library modules and builds the standard registry from the plug-ins.
        "Inlet": system.union([
            "InletCore", "InletSystem", "InletConvert", "InletDecode", "InletCapture", "InletPlugins", "InletV4L2",
            "PatternSource", "InjectSource",
            "FFmpegSource", "RTSPSource", "FFmpegDecoder", "TurboJPEGDecoder", "FileSinks", "FFmpegSink", "V4L2Source",
            "V4L2Sink", "ScreenSource",
            "PipeSink", "StillSinks", "PreviewSink", "InletRTC", "WebRTCSink", "WebRTCSource", "KinesisSignaling",
            "WebSocketSignaling",
        ]),
        // NIOPosix, Crypto and Foundation are for webhooks.
        "InletServe": system.union([
            "InletCore", "InletSystem", "InletCapture", "InletFFmpeg", "InletHTTP", "InletOutput", "InletTLS", "CYAML",
            "NIOCore", "NIOPosix", "NIOHTTP1", "Crypto", "DequeModule", "FoundationEssentials", "Logging",
            "ServiceLifecycle", "UnixSignals",
        ]),
        "InletRestream": system.union(["InletCore", "InletServe", "CRestream"]),
        // The web server is for the page of `inlet latency --screen`.
        "InletCommand": system.union([
            "Inlet", "InletSystem", "InletHTTP", "NIOCore", "NIOHTTP1", "InletOutput", "InletServe",
            "InletRTSP", "RTSPSource", "InletRestream", "InletPluginVerify", "WebSocketSignaling", "WebRTCSink",
            "InletRTC",
            "ArgumentParser",
            "Logging", "FoundationEssentials", "SwiftOverlayShims",
        ]),
        "InletCLI": ["InletCommand"],
    ]

    /// What each plug-in in `Plugins` may import besides ``everyPlugin``: its C module, `InletFFmpeg` where it handles
    /// compressed video, `InletOutput` where it writes bytes, and `InletHTTP` where it is a web server.
    static let plugins: [String: Set<String>] = [
        "PatternSource": [],
        // The converter copies pictures that have no owner.
        "InjectSource": ["InletSystem", "InletConvert", "InletDecode", "DequeModule"],
        // Foundation is for addresses in playlists and for the environment, libcurl for HTTP.
        "FFmpegSource": ["InletSystem", "InletDecode", "InletFFmpeg", "CFFmpeg", "CCurl", "FoundationEssentials"],
        // OpenSSL is for `rtsps:`.
        "RTSPSource": ["InletSystem", "InletDecode", "InletFFmpeg", "InletRTP", "InletRTSP", "COpenSSL"],
        "FFmpegDecoder": ["InletFFmpeg"],
        "TurboJPEGDecoder": ["CTurboJPEG"],
        "FileSinks": ["InletOutput", "CAVUtil"],
        "FFmpegSink": ["InletSystem", "InletOutput", "InletFFmpeg", "CFFmpeg", "CSRT"],
        "ScreenSource": ["InletSystem", "InletOutput", "CXCB", "CScreenCast"],
        "V4L2Source": ["InletDecode", "InletV4L2", "InletFFmpeg", "CV4L2", "CV4LConvert"],
        "V4L2Sink": ["InletV4L2", "InletFFmpeg", "CV4L2", "CYUV"],
        "PipeSink": ["InletSystem", "InletOutput", "CLinux"],
        "StillSinks": ["InletSystem", "InletOutput", "InletFFmpeg"],
        // The web server.
        "PreviewSink": ["InletFFmpeg", "InletHTTP", "NIOCore", "NIOHTTP1"],
        // The encoder is handed in: no plug-in imports another. It scales pictures for slower viewers itself.
        "WebRTCSink": [
            "InletSystem", "InletRTC", "InletWebRTC", "InletHTTP", "InletConvert", "CGStreamer", "NIOCore", "NIOHTTP1",
            "Foundation", "FoundationEssentials", "CoreMetrics",
        ],
        // Foundation is for addresses, the environment and base64, and InletOutput for the file of a sign-on.
        "KinesisSignaling": [
            "InletOutput", "InletRTC", "InletWebRTC", "InletWebSocket", "InletTLS", "Crypto", "Foundation",
        ],
        "WebRTCSource": [
            "InletSystem", "InletDecode", "InletFFmpeg", "InletRTP", "InletRTC", "InletWebRTC", "InletHTTP", "NIOCore",
            "Foundation",
        ],
        // A server and a client of WebSockets; the hash and Base64 are for the handshake.
        "WebSocketSignaling": [
            "InletSystem", "InletRTC", "InletHTTP", "InletTLS", "InletWebSocket", "NIOCore", "NIOHTTP1", "NIOWebSocket",
            "Crypto", "FoundationEssentials",
        ],
    ]
    /// What every plug-in may import, a stranger's too.
    static let everyPlugin = standard.union(system).union(["InletCore", "Logging"])

    static func allowed(for file: HouseTree.File) -> Set<String>? {
        if file.path.hasPrefix("Plugins/") { return plugins[file.module].map { $0.union(everyPlugin) } }
        return sources[file.module].map { $0.union(standard) }
    }

    /// The modules that a text imports, with the line of each.
    static func imports(in text: String) -> [(module: String, line: Int)] {
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        var found: [(String, Int)] = []
        for (index, line) in SwiftText.code(of: text).split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            // An import may follow attributes, an access level or, on one line, another statement.
            for statement in line.split(separator: ";") {
                let words = SwiftText.words(of: statement)
                guard let position = words.firstIndex(of: "import") else { continue }
                guard let module = words[(position + 1)...].first(where: { !kinds.contains($0) }) else { continue }
                found.append((String(module), index + 1))
            }
        }
        return found
    }

    static func check(_ file: HouseTree.File) -> [Violation] {
        guard let allowed = allowed(for: file) else {
            return [Violation(path: file.path, message: "the module '\(file.module)' has no line in ImportRule")]
        }
        return imports(in: file.text).filter { !allowed.contains($0.module) }.map {
            Violation(path: file.path, line: $0.line, message: "\(file.module) must not import \($0.module)")
        }
    }
}
