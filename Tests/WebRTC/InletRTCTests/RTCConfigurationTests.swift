import Foundation
import InletCore
import Testing

@testable import InletRTC

@Suite struct RTCConfigurationTests {
    /// Every key that the controller supports.
    static let whole = """
        {
          "rateControl": "loss", "initialBitrate": 800000, "minBitrate": 200000, "maxBitrate": 4e6,
          "stepUp": 0.1, "stepDown": 0.2, "criticalStepDown": 0.5,
          "lowLossThreshold": 0.02, "highLossThreshold": 0.08, "criticalLossThreshold": 0.2,
          "decisionInterval": 2.5, "decisionWindow": 8, "criticalInterval": 0.5, "minPackets": 20,
          "connectionTimeout": 15,
          "stunServers": ["stun.example", "stun:[2001:db8::1]:3479"],
          "turnServers": [{"urls": "turn:relay.example", "username": "ann", "credential": "north"}],
          "iceServers": [
            {"urls": ["stun:a:1", "turn:b:2?transport=tcp", "turns:c"], "username": "bob", "credential": "n\\u006frth"}
          ],
          "relayOnly": true
        }
        """

    static func read(_ text: String) throws(InletError) -> RTCConfiguration {
        try RTCConfiguration(json: Array(text.utf8), file: "rtc.json")
    }

    /// Returns the lowest, the first and the highest bit rate.
    static func limits(_ configuration: RTCConfiguration) -> [Int] {
        let rates = configuration.rates
        return [rates.minimum, rates.start, rates.maximum]
    }

    @Test("Every key is read")
    func everything() throws {
        let configuration = try Self.read(Self.whole)
        let rates = configuration.rates
        #expect(configuration.rateControl == .loss)
        #expect(Self.limits(configuration) == [200_000, 800_000, 4_000_000])
        #expect([rates.stepUp, rates.stepDown, rates.criticalStep] == [0.1, 0.2, 0.5])
        #expect([rates.lowLoss, rates.highLoss, rates.criticalLoss] == [0.02, 0.08, 0.2])
        #expect(
            [rates.interval, rates.window, rates.criticalInterval] == [
                .milliseconds(2500), .seconds(8), .milliseconds(500),
            ])
        #expect(rates.fewestPackets == 20)
        #expect(configuration.connectionTimeout == .seconds(15))
        #expect(configuration.isRelayOnly && configuration.ice.isRelayOnly)
        #expect(
            configuration.ice.list(for: "", now: 0).map(\.uri) == [
                "stun:a:1", "turn:b:2?transport=tcp", "turns:c:5349", "stun:stun.example:3478",
                "stun:[2001:db8::1]:3479", "turn:relay.example:3478",
            ])
        #expect(configuration.iceServers.map(\.user) == [nil, "bob", "bob", nil, nil, "ann"])
        #expect(configuration.iceServers.map(\.password) == [nil, "north", "north", nil, nil, "north"])
    }

    @Test("Missing keys have the controller's defaults")
    func defaults() throws {
        for text in ["{}", "{\"rateControl\": \"delay\"}", "{\"rateControl\": \"automatic\"}"] {
            let configuration = try Self.read(text)
            #expect(configuration.rateControl == (text.contains("automatic") ? .automatic : .delay))
            #expect(Self.limits(configuration) == [100_000, 1_000_000, 2_500_000])
            #expect(configuration.ice == ICEServers())
            #expect(configuration.connectionTimeout == nil)
        }
        #expect(try Self.read("{\"rateControl\": \"loss\"}").rates == LossStepper.Settings())
        #expect(RTCConfiguration().rateControl == .delay)
    }

    @Test(
        "The first bit rate is the default or the nearest limit, and the lowest is reduced to fit the others",
        arguments: [
            ("{\"maxBitrate\": 500000}", [100_000, 500_000, 500_000]),
            ("{\"minBitrate\": 2000000}", [2_000_000, 2_000_000, 2_500_000]),
            ("{\"maxBitrate\": 50000}", [50_000, 50_000, 50_000]),
            ("{\"initialBitrate\": 60000}", [60_000, 60_000, 2_500_000]),
        ])
    func limits(_ text: String, _ expected: [Int]) throws {
        #expect(Self.limits(try Self.read(text)) == expected)
    }

    @Test("A written configuration reads the same, with this reader and with a decoder")
    func roundTrip() throws {
        var few = RTCConfiguration()
        few.maxBitrate = 3_000_000
        few.connectionTimeout = .nanoseconds(1_234_567_891)
        for configuration in [try Self.read(Self.whole), few, RTCConfiguration()] {
            let text = try JSONEncoder().encode(configuration)
            #expect(try RTCConfiguration(json: Array(text)) == configuration)
            #expect(try JSONDecoder().decode(RTCConfiguration.self, from: text) == configuration)
        }
        #expect(try JSONEncoder().encode(RTCConfiguration()) == Data("{\"rateControl\":\"delay\"}".utf8))
        let whole = try JSONDecoder().decode(RTCConfiguration.self, from: Data(Self.whole.utf8))
        #expect(try whole == Self.read(Self.whole))
    }

    @Test("A decoder's errors are the same, without file and line")
    func decoder() {
        for (text, message) in [
            ("{\"minBitrat\": 1}", "The WebRTC configuration, minBitrat: there is no such key; write minBitrate."),
            (
                "{\"relayOnly\": 1}",
                "The WebRTC configuration, relayOnly: it is a number; write true or false."
            ),
            ("[null]", "The WebRTC configuration: it is a list; write an object."),
            (
                "{\"stepUp\": 0.1}",
                "The WebRTC configuration, stepUp: the controller \"delay\" does not heed it; \"loss\" and "
                    + "\"automatic\" do. Leave it out, or choose one of them as rateControl."
            ),
            (
                "{\"iceServers\": " + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}",
                "The WebRTC configuration: lists and objects are nested too deep."
            ),
        ] {
            let error = #expect(throws: InletError.self) {
                try JSONDecoder().decode(RTCConfiguration.self, from: Data(text.utf8))
            }
            #expect(error?.message == message)
        }
    }

    @Test("A configuration as text shows no credential")
    func texts() throws {
        let configuration = try Self.read(Self.whole)
        for text in ["\(configuration)", String(reflecting: configuration), "\(configuration.ice)"] {
            #expect(!text.contains("north"), "\(text)")
        }
        #expect(
            "\(configuration)".hasPrefix("loss, 800000 bits a second, 200000 to 4000000; stun:a:1, "))
    }

    @Test("Values changed after reading are validated again")
    func validates() throws {
        let changes: [(inout RTCConfiguration) -> Void] = [
            { $0.minBitrate = 0 }, { $0.maxBitrate = .max }, { $0.stepUp = .nan }, { $0.stepDown = 1 },
            { $0.decisionWindow = .seconds(1) }, { $0.connectionTimeout = .zero }, { $0.minPackets = 0 },
            { $0.rateControl = .delay }, { $0.iceServers = [] },
            { $0.iceServers = Array(repeating: $0.iceServers[1], count: RTCConfiguration.mostServers + 1) },
        ]
        try Self.read(Self.whole).validate()
        for change in changes {
            var configuration = try Self.read(Self.whole)
            change(&configuration)
            let error = #expect(throws: InletError.self) { try configuration.validate() }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    private static func document(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test("The guide's example is a configuration, with the defaults of the controller by loss")
    func guide() throws {
        let blocks = try Self.document("Docs/guide/browsers.md").split(separator: "```json\n").dropFirst()
        #expect(blocks.count == 1)
        let text = try #require(blocks.first?.split(separator: "```").first)
        let configuration = try Self.read(String(text))
        #expect(configuration.rates == LossStepper.Settings())
        #expect(configuration.connectionTimeout == .seconds(15))
        #expect(configuration.iceServers.map(\.scheme) == [.stun, .turn, .turns])
    }

    @Test(
        "The README's table has each key, its default and its controllers", arguments: RTCConfiguration.Key.allCases)
    func table(_ key: RTCConfiguration.Key) throws {
        let rows = try Self.document("Plugins/WebRTC/Sink/README.md").split(separator: "\n")
            .filter { $0.hasPrefix("| `\(key.rawValue)` |") }
        #expect(rows.count == 1)
        let cells = try #require(rows.first).split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard key != .rateControl else { return #expect(cells[3] == "`\"delay\"`") }
        let isOfLoss = RTCConfiguration.Key.lossKnobs.contains(key)
        #expect(cells[4] == (isOfLoss ? "`\"loss\"`, `\"automatic\"`" : "every controller"))
        if isOfLoss {
            var configuration = RTCConfiguration()
            configuration.rateControl = .loss
            configuration.set(try #require(Double(cells[3])), for: key)
            #expect(configuration.rates == LossStepper.Settings())
        }
    }

    @Test("No damaged text ends the process, and every accepted configuration is valid")
    func mutations() throws {
        var mutator = TextMutator(
            seed: 23,
            corpus: [
                Self.whole, "{\"rateControl\": \"delay\", \"maxBitrate\": 3000000}",
                "{\"iceServers\": [{\"urls\": \"stun:a\"}], \"connectionTimeout\": 1.5}",
            ])
        var random = SplitMix64(seed: 24)
        let bytes = Array(Self.whole.utf8)
        var (taken, refused) = (0, 0)
        for round in 0..<4000 {
            var text = round % 2 == 0 ? Array(mutator.next().utf8) : bytes
            if round % 2 == 1 {
                text[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do throws(InletError) {
                let configuration = try RTCConfiguration(json: text)
                try configuration.validate()
                try configuration.rates.validate()
                try configuration.ice.validate()
                _ = try LossStepper(configuration.rates)
                taken += 1
            } catch {
                #expect(error.code == .invalidConfiguration)
                refused += 1
            }
        }
        #expect(taken > 100 && refused > 1000)
    }
}
