#if GStreamer
import FFmpegSink
import Foundation
import InletCore
import InletRTC
import ReferenceTools
import Testing

@testable import WebRTCSink

/// The sink configuration that results from `config=FILE` and the options next to it. The test opens nothing.
@Suite struct ConnectionOptionsTests {
    private let folder: TemporaryFolder
    private let registry: PluginRegistry

    private static let loss = """
        {
          "rateControl": "loss", "initialBitrate": 800000, "minBitrate": 200000, "maxBitrate": 4000000,
          "stepUp": 0.1, "decisionWindow": 20, "connectionTimeout": 7.5,
          "stunServers": ["stun.example"],
          "turnServers": [{"urls": "turn:relay.example", "username": "ann", "credential": "north"}]
        }
        """

    init() throws {
        folder = try TemporaryFolder()
        var registry = PluginRegistry(localAccess: LocalAccess { _ throws(InletError) in Array("wind".utf8) })
        registry.register(SinkPlugin.webRTC { FFmpegVideoEncoder() })
        registry.register(SinkPlugin.whip { FFmpegVideoEncoder() })
        self.registry = registry
    }

    private func write(_ text: String) throws -> String {
        let path = folder.path("rtc.json")
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func page(_ options: String) throws -> WebRTCSinkConfiguration {
        try #require(try registry.sink("webrtc:?\(options)") as? WebRTCSinkConfiguration)
    }

    private func publication(_ options: String) throws -> WHIPSinkConfiguration {
        try #require(try registry.sink("whip+https://host/x?\(options)") as? WHIPSinkConfiguration)
    }

    private static func limits(_ rates: LossStepper.Settings) -> [Int] {
        [rates.minimum, rates.start, rates.maximum]
    }

    @Test("Without a file the bit rate starts at its limit, and the controller works by delay")
    func noFile() throws {
        let (page, publication) = (try page("viewers=2"), try publication("codec=vp8"))
        #expect(Self.limits(page.rates) == [100_000, 2_500_000, 2_500_000])
        #expect(Self.limits(publication.rates) == [100_000, 2_500_000, 2_500_000])
        #expect(page.rateControl == .delay && publication.rateControl == .delay)
        #expect(page.connectTimeout == .seconds(10) && publication.connectTimeout == .seconds(30))
        #expect(Self.limits(try self.page("bitrate=60000&rate=loss").rates) == [60_000, 60_000, 60_000])
        #expect(try self.page("connect-timeout=3s").connectTimeout == .seconds(3))
    }

    @Test("Both sinks use all settings of the file")
    func file() throws {
        let path = try write(Self.loss)
        let (page, publication) = (try page("config=\(path)"), try publication("config=\(path)&token-env=T"))
        for (rates, control, timeout, ice) in [
            (page.rates, page.rateControl, page.connectTimeout, page.ice),
            (publication.rates, publication.rateControl, publication.connectTimeout, publication.ice),
        ] {
            #expect(Self.limits(rates) == [200_000, 800_000, 4_000_000])
            #expect(rates.stepUp == 0.1 && rates.window == .seconds(20))
            #expect(control == .loss)
            #expect(timeout == .milliseconds(7500))
            #expect(ice.fixed.map(\.uri) == ["stun:stun.example:3478", "turn:relay.example:3478"])
            #expect(ice.fixed.last?.password == "north")
        }
        #expect(publication.token == "wind")
        #expect(try self.page("config=\(write("{\"rateControl\": \"loss\"}"))").rates == LossStepper.Settings())
        #expect(try self.page("config=\(write("{}"))").connectTimeout == .seconds(10))
    }

    @Test("Each URI option overrides its own setting of the file")
    func overrides() throws {
        let path = try write(Self.loss)
        let rates = try page("bitrate=150000&config=\(path)").rates
        #expect(Self.limits(rates) == [150_000, 150_000, 150_000])
        #expect(rates.stepUp == 0.1)
        #expect(Self.limits(try page("bitrate=900000&config=\(path)").rates) == [200_000, 900_000, 900_000])
        #expect(try page("config=\(path)&rate=automatic").rateControl == .automatic)
        #expect(try page("config=\(path)&connect-timeout=2s").connectTimeout == .seconds(2))
        let stun = try page("config=\(path)&stun=a,b").ice
        #expect(stun.fixed.map(\.uri) == ["stun:a:3478", "stun:b:3478", "turn:relay.example:3478"])
        let turn = try page("config=\(path)&turn=c&turn-user=u&turn-password-file=p&relay-only=true").ice
        #expect(turn.fixed.map(\.uri) == ["stun:stun.example:3478", "turn:c:3478"])
        #expect(turn.fixed.last?.password == "wind")
        #expect(turn.isRelayOnly)
        let shared = try page("config=\(path)&turn=c&turn-secret-env=S&turn-tls-verify=false").ice
        #expect(shared.fixed.map(\.uri) == ["stun:stun.example:3478"])
        #expect(shared.shared.map(\.uri) == ["turn:c:3478"])
        #expect(shared.tls.isVerified == false)
    }

    @Test("A file's relay-only applies to the URI's relays, and the URI's to the file's")
    func relayOnly() throws {
        let relay = "\"turnServers\": [{\"urls\": \"turn:b\", \"username\": \"u\", \"credential\": \"north\"}]"
        let path = try write("{\"relayOnly\": true}")
        let secret = try page("config=\(path)&turn=c&turn-secret-env=S").ice
        #expect(secret.isRelayOnly && secret.fixed.isEmpty)
        #expect(try page("config=\(path)&turn=c&turn-user=u&turn-password-env=P").ice.isRelayOnly)
        #expect(try !page("config=\(path)&relay-only=false").ice.isRelayOnly)
        let error = #expect(throws: InletError.self) { try page("config=\(path)") }
        #expect(
            error?.message
                == "\(path), relayOnly: there is no relay; write one as iceServers or turnServers.")
        #expect(try page("config=\(write("{\(relay)}"))&relay-only=true").ice.isRelayOnly)
        #expect(throws: InletError.self) { try page("config=\(write("{}"))&relay-only=true") }
    }

    @Test("An unusable setting is an error that names the file, and quotes no credential")
    func refuses() throws {
        for (text, options, words) in [
            ("{\"stepUp\": 0.1}", "", "stepUp: the controller \"delay\" does not heed it; \"loss\" and "),
            (Self.loss, "&rate=delay", "stepUp: the controller \"delay\" does not heed it; \"loss\" and "),
            (Self.loss.replacing("turn:relay", with: "north:relay"), "", "line 5, turnServers[0].urls: it is no "),
            (Self.loss.replacing("\"username\"", with: "\"user\""), "", "line 5, turnServers[0].user: there is "),
            ("{\n\"maxBitrate\": 2,", "", "line 2, maxBitrate: it is 2; write a whole number from 1000 to "),
        ] {
            let path = try write(text.hasSuffix(",") ? text + "\n\"relayOnly\": false}" : text)
            for scheme in ["webrtc:", "whip+https://host/x"] {
                let error = #expect(throws: InletError.self) {
                    try registry.sink("\(scheme)?config=\(path)\(options)")
                }
                #expect(error?.message.hasPrefix("\(path), \(words)") == true, "\(error?.message ?? "")")
                #expect(error?.code == .invalidConfiguration)
                #expect(error?.description.contains("north") == false)
            }
        }
    }

    @Test("A file that is missing, too long or not regular is refused at once")
    func noFiles() throws {
        let long = try write(String(repeating: " ", count: RTCConfiguration.longest + 1))
        #expect(unsafe mkfifo(folder.path("pipe"), 0o600) == 0)
        for (path, words) in [
            (long, "\(long): it is longer than 65536 bytes."),
            (folder.path("none"), "There is no file '\(folder.path("none"))' to read a configuration from."),
            (folder.path("pipe"), "'\(folder.path("pipe"))' is not a regular file. config= needs a JSON file."),
            ("/dev/zero", "'/dev/zero' is not a regular file. config= needs a JSON file."),
        ] {
            let error = #expect(throws: InletError.self) { try page("config=\(path)") }
            #expect(error?.message == words)
        }
        let largest = try write(String(repeating: " ", count: RTCConfiguration.longest - 2) + "{}")
        #expect(try page("config=\(largest)").rates == RTCConfiguration().rates)
    }

    @Test("A registry that reads no files reads no configuration either")
    func denied() throws {
        var registry = PluginRegistry()
        registry.register(SinkPlugin.webRTC { FFmpegVideoEncoder() })
        let path = try write("{}")
        let error = #expect(throws: InletError.self) { try registry.sink("webrtc:?config=\(path)") }
        #expect(error?.message.contains("reads neither files") == true)
    }

    @Test("No text of a sink's configuration shows a credential of the file")
    func texts() throws {
        let path = try write(Self.loss)
        let (page, publication) = (try page("config=\(path)"), try publication("config=\(path)"))
        for text in ["\(page)", "\(publication)", String(reflecting: page), String(reflecting: publication)] {
            #expect(!text.contains("north"))
        }
        #expect(!page.redactedURI.contains("north") && !publication.redactedURI.contains("north"))
    }

    @Test(
        "The API accepts a configuration as the URI does, and a publisher refuses a time-out that it does not use")
    func api() throws {
        var configuration = try RTCConfiguration(json: Array(Self.loss.utf8))
        var page = WebRTCSinkConfiguration { FFmpegVideoEncoder() }
        page.ice.secret = "wind"
        try page.apply(configuration)
        #expect(page.rates == configuration.rates && page.rateControl == .loss)
        #expect(page.ice == configuration.ice)
        #expect(page.connectTimeout == .milliseconds(7500))
        try page.validate()
        var publication = WHIPSinkConfiguration("https://host/x") { FFmpegVideoEncoder() }
        try publication.apply(configuration)
        #expect(publication.rates == configuration.rates && publication.connectTimeout == .milliseconds(7500))
        let error = #expect(throws: InletError.self) {
            try PeerPublisher(configuration: configuration) { FFmpegVideoEncoder() }
        }
        #expect(
            error?.message
                == "connectionTimeout: PeerPublisher ignores it. Set PeerSessionPolicy.connecting instead.")
        configuration.connectionTimeout = nil
        _ = try PeerPublisher(configuration: configuration) { FFmpegVideoEncoder() }
        configuration.rateControl = .delay
        #expect(throws: InletError.self) { try page.apply(configuration) }
        #expect(page.rateControl == .loss)
    }
}
#endif
