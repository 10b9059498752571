import Inlet
import InletHTTPServer
import InletServe
import Testing

struct ConfigurationReaderTests {
    /// The secrets that tests need: the file `token` and the variable `TOKEN`.
    private static let access = LocalAccess { place throws(InletError) in
        switch place {
        case .file("/run/token"), .file("/run/credentials/token"): Array("0123456789abcdefghijklmnop\n".utf8)
        case .variable("TOKEN"): Array("zyxwvutsrqponmlkjihgfedcba".utf8)
        default: throw InletError(.notFound, "\(place) is not there.")
        }
    }

    static func reader(credentials: String? = nil) -> ConfigurationReader {
        var registry = PluginRegistry.standard
        registry.localAccess = access
        return ConfigurationReader(registry: registry, credentials: credentials)
    }

    static func read(_ text: String, credentials: String? = nil) throws -> ServeConfiguration {
        try reader(credentials: credentials).read(Array(text.utf8))
    }

    /// Returns the problems of a text; empty if it has none.
    static func complaints(_ text: String) -> [String] {
        do throws(ConfigurationProblems) {
            _ = try reader().read(Array(text.utf8))
            return []
        } catch {
            return error.list.map(\.description)
        }
    }

    @Test("Two lines are a configuration")
    func twoLines() throws {
        let read = try Self.read("cameras:\n  door: rtsp://camera/main\n")
        #expect(read.cameras == ["door": CameraSettings(name: "door", source: "rtsp://camera/main")])
        #expect(read.server == ServerSettings())
        #expect(read.server.host == "127.0.0.1")
    }

    @Test("RTSP distribution is checked: an address that others can reach requires logins")
    func restream() throws {
        let cameras = "\ncameras: {door: 'pattern:'}"
        #expect(try Self.read("cameras: {door: 'pattern:'}").server.restream == nil)
        var reader = Self.reader()
        func complaints(_ text: String) -> [String] {
            do throws(ConfigurationProblems) {
                _ = try reader.read(Array((text + cameras).utf8))
                return []
            } catch {
                return error.list.map(\.description)
            }
        }
        let absent = complaints("server: {restream: 127.0.0.1:8554}")
        #expect(absent.count == 1 && absent[0].contains("server.restream: This build cannot serve"), "\(absent)")
        reader.makeRestream = { _ throws(InletError) in throw InletError(.unsupported, "not in this test") }
        #expect(complaints("server: {restream: 127.0.0.1:8554}") == [])
        let open = complaints("server: {restream: 0.0.0.0:8554}")
        #expect(open.count == 1 && open[0].contains("readers must log in. Add tokens:"), "\(open)")
        #expect(complaints("server: {restream: 'door:x'}").count == 1)
        let read = try reader.read(Array(("server: {restream: '[::1]:0'}" + cameras).utf8))
        #expect(read.server.restream == RestreamSettings(host: "::1", port: 0))
    }

    @Test("Options of a WebRTC sink are checked like those of its URI")
    func webRTC() throws {
        #expect(try Self.read("cameras: {door: 'pattern:'}").server.webRTC == "webrtc:")
        let other = Self.complaints("server: {webrtc: 'mp4:/x'}\ncameras: {door: 'pattern:'}")
        #expect(other.count == 1 && other[0].contains("server.webrtc: Write webrtc: with options only"), "\(other)")
        #if GStreamer
        let text = "server: {webrtc: 'webrtc:?viewers=20&turn-password-file={credentials}/token&turn=host"
        let read = try Self.read(
            text + "&turn-user=me'}\ncameras: {door: 'pattern:'}", credentials: "/run/credentials")
        #expect(read.server.webRTC.contains("viewers=20&turn-password-file=%2Frun%2Fcredentials/token"))
        let complaints = Self.complaints("server: {webrtc: 'webrtc:?viewer=20'}\ncameras: {door: 'pattern:'}")
        #expect(complaints.count == 1)
        #expect(complaints.first?.hasPrefix("line 1, column 18: server.webrtc: ") == true, "\(complaints)")
        #expect(complaints.first?.contains("'viewers'") == true, "\(complaints)")
        #else
        let complaints = Self.complaints("server: {webrtc: 'webrtc:'}\ncameras: {door: 'pattern:'}")
        #expect(complaints.count == 1 && complaints[0].contains("This build has no WebRTC."), "\(complaints)")
        #endif
    }

    @Test("A separate camera process requires a source that another process can open, and a system that permits it")
    func processes() throws {
        func read(_ text: String, makesProcesses: Bool = true) throws(ConfigurationProblems) -> ServeConfiguration {
            var reader = Self.reader()
            if makesProcesses {
                reader.makeProcess = { _ in
                    CameraProcess(configuration: CountingConfiguration(redactedURI: "count:")) {
                        CameraProcess.Figures(processID: nil, starts: 0)
                    }
                }
            }
            return try reader.read(Array(text.utf8))
        }
        let cameras = try read(
            "defaults: {process: own, memory: 512M}\ncameras: {a: 'pattern:', b: {source: 'pattern:', process: shared}}"
        ).cameras
        #expect(cameras["a"]?.policies.process == .own(memoryLimit: 512_000_000))
        #expect(cameras["b"]?.policies.process == .shared)
        let fits =
            "budget: {memory: 1G}\ndefaults: {process: own, memory: 500M}\ncameras: {a: 'pattern:', b: 'pattern:'}"
        #expect(try read(fits).cameras.count == 2)
        let named = "defaults: {process: own}\ncameras: {a: 'v4l2:?id=0x1', b: 'v4l2:/dev/video0'}"
        #expect(try read(named).cameras.count == 2)
        for (text, words) in [
            ("cameras: {a: {source: '-', process: own}}", "Only the daemon's own process has this source"),
            ("cameras: {a: {source: 'v4l2:?fps=30', process: own}}", "Add an address from 'inlet devices'"),
            (
                "budget: {memory: 1G}\ndefaults: {process: own, memory: 400M}\n"
                    + "cameras: {a: 'pattern:', b: 'pattern:', c: 'pattern:'}",
                "The processes of 3 cameras may use 1200000000 bytes together, but the budget is 1000000000"
            ),
            ("budget: {memory: 1G}\ncameras: {a: {source: 'pattern:', process: own}}", "Add 'memory:', such as 512M"),
            ("budget: {memory: 0}\ncameras: {a: 'pattern:'}", "a number of bytes"),
            ("cameras: {a: {source: 'pattern:', memory: 1G}}", "Add 'process: own', or remove this key"),
            ("cameras: {a: {source: 'pattern:', process: other}}", "one of shared, own"),
            ("cameras: {a: {source: 'pattern:', process: own, memory: much}}", "a number of bytes"),
        ] {
            let problems = #expect(throws: ConfigurationProblems.self) { try read(text) }
            #expect(problems?.list.map(\.description).joined().contains(words) == true, "\(problems?.list ?? [])")
        }
        // The budget of all cameras and their number are not reported to clients that may see only some.
        let exceeded = #expect(throws: ConfigurationProblems.self) {
            try read("budget: {memory: 1M}\ndefaults: {process: own, memory: 400M}\ncameras: {a: 'pattern:'}")
        }
        let told = exceeded?.list.map { $0.told(to: CameraFilter(patterns: ["a"])).description } ?? []
        #expect(told == ["line 1, column 18: budget.memory: The budget is exceeded."])
        #expect(exceeded?.list.map { $0.told(to: .all) } == exceeded?.list)
        let twice = #expect(throws: ConfigurationProblems.self) {
            try read("defaults: {sinks: ['y4m:/x']}\ncameras: {a: 'pattern:', b: 'pattern:'}")
        }
        for name in ["a", "b"] {
            let told = twice?.list.map { $0.told(to: CameraFilter(patterns: [name])).description } ?? []
            #expect(told.count == 1 && told[0].contains("Another camera has the same sink"), "\(told)")
            #expect(!told.joined().contains(name == "a" ? "cameras.b" : "'a'"))
        }
        let problems = #expect(throws: ConfigurationProblems.self) {
            try read("cameras: {a: {source: 'pattern:', process: own}}", makesProcesses: false)
        }
        #expect(problems?.list.first?.description.contains("separate processes") == true)
    }

    @Test("A camera has its own settings, and those of the defaults for the rest")
    func defaults() throws {
        let read = try Self.read(
            """
            server:
              listen: "[::1]:9000"
              streams: 8
            defaults:
              sinks:
                - mp4:/srv/{camera}-{n}.mp4?segment=60s
              retry: 3
              outage: text
              on-demand: true
              view: {max-size: 640x360, max-fps: 5, quality: 50}
            cameras:
              door: pattern:smpte
              yard:
                source: pattern:ball
                sinks:
                  - uri: y4m:/srv/{camera}/{camera}.y4m
                    queue: buffered:4
                    retry: never
                  - "null:"
                on-demand: 2m
                retry: forever
                timeout: 500ms
            """)
        #expect((read.server.host, read.server.port, read.server.streams) == ("::1", 9000, 8))
        let (door, yard) = (try #require(read.cameras["door"]), try #require(read.cameras["yard"]))
        #expect(door.sinks == [SinkSettings(uri: "mp4:/srv/door-{n}.mp4?segment=60s")])
        #expect(door.policies.retry == .attempts(3))
        #expect(door.policies.outage == .text)
        #expect(door.policies.closesUnwatchedAfter == .seconds(10))
        #expect(door.policies.view.largestSize == ImageSize(width: 640, height: 360))
        #expect(door.policies.view.frameRate == Rational(5))
        #expect(yard.sinks.map(\.uri) == ["y4m:/srv/yard/yard.y4m", "null:"])
        #expect(yard.sinks.first?.queue == .buffered(4, dropping: .oldest))
        #expect(yard.sinks.first?.onFailure == .detach)
        #expect(yard.policies.closesUnwatchedAfter == .seconds(120))
        #expect(yard.policies.retry == RetryPolicy())
        #expect(yard.policies.timeout == .milliseconds(500))
        #expect(yard.policies.outage == .text)
    }

    @Test(
        "An error has its line, its column, and the correction",
        arguments: [
            ("", "The text is empty. Write cameras:, and below it a line such as '  door: rtsp://camera/main'."),
            (
                "cameras:\n",
                "line 1, column 9: cameras: The value is missing here. Write the name of a camera, a colon and its value."
            ),
            (
                "camras:\n  door: pattern:smpte\n",
                "line 1, column 1: There is no key 'camras' here. Did you mean 'cameras'?"
            ),
            (
                "cameras:\n  door:\n    source: pattern:smpte\n    sink: x\n",
                "line 4, column 5: cameras.door: There is no key 'sink' here. Did you mean 'sinks'?"
            ),
            (
                "cameras:\n  Door: pattern:smpte\n",
                "line 2, column 3: cameras.Door: The name of a camera must be 1 to 63 characters of a-z, 0-9, - and _, beginning with a letter or a digit, such as front-door."
            ),
            (
                "cameras:\n  door: patern:smpte\n",
                "line 2, column 9: cameras.door: patern:smpte: There is no source 'patern:'. Did you mean 'pattern:'?"
            ),
            (
                "cameras:\n  door:\n    source: pattern:smpte\n    retry: 1.5\n",
                "line 4, column 12: cameras.door.retry: The value must be never, forever or a number such as 5, not '1.5'."
            ),
            (
                "cameras:\n  door:\n    - pattern:smpte\n",
                "line 3, column 5: cameras.door: There is a list here. Write the URI of a source, such as rtsp://camera/main, or keys such as 'source:', 'sinks:', 'retry:'."
            ),
            ("cameras:\n  door:\n    retry: 5\n", "line 3, column 5: cameras.door: The key 'source' is missing"),
            (
                "cameras:\n  door: pattern:smpte\n  door: pattern:ball\n",
                "line 3, column 3: The key 'door' appears here and in line 2. Remove one of them."
            ),
            ("cameras:\n  door: &a pattern:smpte\n", "line 2, column 9: Anchors (&) and aliases (*) are not supported"),
            ("cameras:\n  door: *a\n", "line 2, column 9: Anchors (&) and aliases (*) are not supported."),
            (
                "cameras:\n  a:\n    source: pattern:smpte\n    sinks:\n      - null:\n",
                "line 5, column 9: cameras.a.sinks[0]: Put text that ends in a colon in quotation marks: 'null:'."
            ),
            ("cameras:\n  door: !!str smpte\n", "line 2, column 9: Tags, which begin with !, are not supported."),
            ("cameras:\n\tdoor: pattern:\n", "line 2, column 1: This is not YAML:"),
            ("cameras: {door: pattern:smpte\n", "This is not YAML:"),
            ("cameras:\n  door: pattern:smpte\n---\na: b\n", "line 3, column 1: A second document begins here."),
            (
                "cameras:\n  a:\n    source: pattern:smpte\n    sinks: [y4m:x.y4m]\n  b:\n    source: pattern:smpte\n    sinks: [y4m:x.y4m]\n",
                "cameras.b: The camera 'a' has the same sink y4m:x.y4m. Add {camera} to it"
            ),
            (
                "cameras:\n  a: rtsp://c/m?password-file={credentials}/a\n",
                "line 2, column 6: cameras.a: {credentials} is replaced by the folder of systemd's credentials, but there is no such folder."
            ),
            (
                "server:\n  tokens:\n    me: {scope: admin}\ncameras: {a: pattern:smpte}\n",
                "line 3, column 9: server.tokens.me: Give the location of the token by one of file:, env: and credential:."
            ),
            (
                "server:\n  tokens:\n    me: {scope: root, env: TOKEN}\ncameras: {a: pattern:smpte}\n",
                "line 3, column 17: server.tokens.me.scope: The value must be one of view, control, admin, not 'root'."
            ),
            (
                "server:\n  tokens:\n    me: {scope: view, env: TOKEN}\n    you: {scope: admin, env: TOKEN}\ncameras: {a: pattern:smpte}\n",
                "server.tokens.you: Two tokens are the same. Change one of them."
            ),
            (
                "webhooks:\n  a: {url: 'ftp://h/'}\ncameras: {a: pattern:smpte}\n",
                "line 2, column 6: webhooks.a: The address begins with neither http:// nor https://."
            ),
            (
                "webhooks:\n  a: {url: 'http://h/', secret: {env: TOKEN, file: x}}\ncameras: {a: pattern:smpte}\n",
                "webhooks.a: Give the location of the secret by one of file:, env: and credential:."
            ),
            (
                "webhooks:\n  a: {url: 'http://h/', kinds: [motoin]}\ncameras: {a: pattern:smpte}\n",
                "The value must be the kind of an event, such as motion, not 'motoin'. Did you mean 'motion'?"
            ),
            (
                "cameras: {a: {source: pattern:smpte, record: {folder: /r, events: [qqqqqqqqqqqqq]}}}\n",
                "Valid values are state, opened, failed"
            ),
            (
                "webhooks:\n  a: {url: 'http://h/', kinds: []}\ncameras: {a: pattern:smpte}\n",
                "webhooks.a: The list of kinds is empty."
            ),
            (
                "webhooks:\n  a: {url: 'http://h/', secret: hush}\ncameras: {a: pattern:smpte}\n",
                "webhooks.a.secret: There is a single value here. Write keys with values"
            ),
            ("webhooks:\n  a: {kinds: [state]}\ncameras: {a: pattern:smpte}\n", "The key 'url' is missing"),
        ])
    func wrong(_ text: String, _ complaint: String) {
        let complaints = Self.complaints(text)
        #expect(complaints.contains { $0.hasPrefix(complaint) || $0.contains(complaint) }, "\(complaints)")
    }

    @Test("All errors are reported at once, in the order of the text")
    func all() {
        let complaints = Self.complaints(
            """
            server: {listen: a:b:c}
            cameras:
              door:
                source: pattern:smpt
                onDemand: true
                timeout: 0
              yard: pattern:smpte?fsp=5
            """)
        #expect(
            complaints.map { String($0.prefix(16)) } == [
                "line 1, column 1", "line 4, column 1", "line 5, column 5", "line 6, column 1", "line 7, column 9",
            ], "\(complaints)")
        #expect(complaints.contains { $0.contains("Did you mean 'on-demand'?") })
        #expect(complaints.contains { $0.contains("Did you mean 'fps'?") })
    }

    @Test("A small text that expands to a large one, deep nesting and too many values are refused")
    func bombs() {
        var laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (last, next) in zip("abcdefgh", "bcdefghi") {
            laughs += "\(next): &\(next) [\(Array(repeating: "*\(last)", count: 9).joined(separator: ","))]\n"
        }
        let deep = String(repeating: "- ", count: 100_000) + "x"
        for text in [
            laughs, deep, String(repeating: "[", count: 500), "a: [" + String(repeating: "b,", count: 30_000) + "]",
        ] {
            #expect(Self.complaints(text).count == 1)
        }
        #expect(Self.complaints(String(repeating: "a", count: 1_048_577)) == ["The text has more than 1048576 bytes."])
        #expect(
            Self.complaints("cameras:\n" + (0..<300).map { "  c\($0): pattern:smpte\n" }.joined()).first?.contains(
                "more than 256") == true)
        // Only some of many problems are reported.
        let wrong = "cameras:\n" + (0..<200).map { "  c\($0): xx:y\n" }.joined()
        #expect(Self.complaints(wrong).count == 100)
    }

    @Test("Reading any bytes ends with a configuration or with problems")
    func anyBytes() {
        let seed = Array(
            "server: {listen: 0.0.0.0:1}\ndefaults: {sinks: [null:]}\ncameras:\n  door: \"pattern:\\u00e4\"\n".utf8)
        var random = SplitMix64(seed: 19)
        for _ in 0..<3000 {
            var text = seed
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: place)
                default: text.insert(Array("{}[]:-\n \"'&*!|>%@".utf8).randomElement(using: &random) ?? 0, at: place)
                }
            }
            do throws(ConfigurationProblems) {
                _ = try Self.reader().read(text)
            } catch {
                #expect(!error.list.isEmpty)
            }
        }
    }

    @Test("Secrets come from a file, the environment or systemd, and no text shows one")
    func secrets() throws {
        let text = """
            server:
              tokens:
                wall: {scope: view, file: /run/token}
                me: {scope: admin, env: TOKEN}
            cameras:
              door: rtsp://user:secret@camera/main?password-env=TOKEN
            """
        #expect(Self.complaints(text).allSatisfy { !$0.contains("secret") })
        let read = try Self.read(
            text.replacing("user:secret@", with: "user:hushhush@").replacing("?password-env=TOKEN", with: ""))
        #expect(read.server.tokens["wall"]?.secret == "0123456789abcdefghijklmnop")
        #expect(read.server.tokens["me"]?.scope == .admin)
        #expect(!"\(read)".contains("hushhush"))
        #expect(!"\(read)".contains("0123456789"))
        let credential = try Self.read(
            "server: {tokens: {me: {scope: admin, credential: token}}}\ncameras: {a: pattern:smpte}\n",
            credentials: "/run/credentials")
        #expect(credential.server.tokens["me"]?.secret == "0123456789abcdefghijklmnop")
        #expect(
            Self.complaints("cameras:\n  a: rtsp://user:hushhush@c/m?nothing=5&x\n").allSatisfy {
                !$0.contains("hushhush")
            })
    }

    @Test("An overlay's cameras replace the file's, and null removes one")
    func overlay() throws {
        let changed = try #require(try YAMLDocument.read(Array("{source: 'pattern:ball', retry: 2}".utf8)))
        let read = try Self.reader().read(
            Array("cameras:\n  a: pattern:smpte\n  b: pattern:smpte\n".utf8), overlay: ["a": nil, "c": changed])
        #expect(Set(read.cameras.keys) == ["b", "c"])
        #expect(read.cameras["c"]?.policies.retry == .attempts(2))
        let wrong = try #require(try YAMLDocument.read(Array("{sourc: 'pattern:ball'}".utf8)))
        #expect(throws: ConfigurationProblems.self) {
            try Self.reader().read(Array("cameras:\n  b: pattern:smpte\n".utf8), overlay: ["c": wrong])
        }
    }
}
