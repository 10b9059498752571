import InletCore
import Testing

@testable import InletRTC

/// The error messages for invalid files, word for word.
@Suite struct RTCConfigurationErrorTests {
    private static let heed =
        "the controller \"delay\" does not heed it; \"loss\" and \"automatic\" do. Leave it out, or choose one of them "
        + "as rateControl."
    private static let addresses = "stun:HOST[:PORT], turn:HOST[:PORT][?transport=tcp] or turns:HOST[:PORT]."
    private static let bits = "write a whole number from 1000 to 1000000000 (bits a second)."
    private static let seconds = "write a number from 0.01 to 3600 (seconds)."
    private static let keys =
        "rateControl, initialBitrate, minBitrate, maxBitrate, stepUp, stepDown, criticalStepDown, lowLossThreshold, "
        + "highLossThreshold, criticalLossThreshold, decisionInterval, decisionWindow, criticalInterval, minPackets, "
        + "connectionTimeout, iceServers, stunServers, turnServers, relayOnly."

    static let files: [(text: String, words: String)] = [
        ("", "line 1: the file ends in the middle; it may have been cut off."),
        (
            "{\"minBitrate\": 1000,\n}",
            "line 2: a key in quotation marks is expected here, without a comma after the "
                + "last member."
        ),
        (
            "{\n\"minBitrate\": 1000,\n\"minBitrate\": 1000}",
            "line 3: the key \"minBitrate\" occurs twice in one "
                + "object; leave one of them out."
        ),
        ("{} {}", "line 1: something follows the end of the value; a file holds one object."),
        ("\u{FEFF}{}", "line 1: the file begins with a byte order mark; save it as UTF-8 without one."),
        ("[]", "line 1: it is a list; write an object."),
        ("{\n\n\"maxbitrate\": 1}", "line 3, maxbitrate: there is no such key; write maxBitrate."),
        ("{\"q\\u001b[31m\": 1}", "line 1, q\\u{1B}[31m: there is no such key; leave it out; known are \(keys)"),
        ("{\"minBitrate\": \"100000\"}", "line 1, minBitrate: it is text; \(bits)"),
        ("{\"minBitrate\": null}", "line 1, minBitrate: it is null; \(bits)"),
        ("{\"minBitrate\": 999}", "line 1, minBitrate: it is 999; \(bits)"),
        ("{\"minBitrate\": 100000.5}", "line 1, minBitrate: it is 100000.5; \(bits)"),
        ("{\"maxBitrate\": 1e99}", "line 1, maxBitrate: it is 1e99; \(bits)"),
        ("{\"maxBitrate\": 1e999}", "line 1, maxBitrate: it is 1e999; \(bits)"),
        ("{\"stepUp\": 0}", "line 1, stepUp: it is 0; write a number above 0, at most 10."),
        ("{\"stepDown\": 1}", "line 1, stepDown: it is 1; write a number above 0 and below 1."),
        ("{\"criticalStepDown\": -0.5}", "line 1, criticalStepDown: it is -0.5; write a number above 0 and below 1."),
        ("{\"lowLossThreshold\": 1.5}", "line 1, lowLossThreshold: it is 1.5; write a number from 0 to 1."),
        ("{\"decisionInterval\": 0}", "line 1, decisionInterval: it is 0; \(seconds)"),
        ("{\"connectionTimeout\": \"30s\"}", "line 1, connectionTimeout: it is text; \(seconds)"),
        ("{\"minPackets\": 0}", "line 1, minPackets: it is 0; write a whole number from 1 to 1000000."),
        (
            "{\"rateControl\": \"steps\"}",
            "line 1, rateControl: there is no such controller; write one of "
                + "\"automatic\", \"delay\", \"loss\"."
        ),
        (
            "{\"rateControl\": 1}",
            "line 1, rateControl: it is a number; write one of \"automatic\", \"delay\", "
                + "\"loss\"."
        ),
        ("{\"relayOnly\": \"yes\"}", "line 1, relayOnly: it is text; write true or false."),
        ("{\"minBitrate\": 3000000}", "minBitrate: it is 3000000; write at most maxBitrate, which is 2500000."),
        (
            "{\"rateControl\": \"loss\", \"initialBitrate\": 7000000}",
            "initialBitrate: it is 7000000; write minBitrate, which is 100000, to maxBitrate, which is 6000000."
        ),
        (
            "{\"rateControl\": \"loss\", \"lowLossThreshold\": 0.05}",
            "highLossThreshold: it is 0.05; write more than lowLossThreshold, which is 0.05, and at most "
                + "criticalLossThreshold, which is 0.1."
        ),
        (
            "{\"rateControl\": \"loss\", \"decisionWindow\": 1}",
            "decisionWindow: it is 1s; write at least decisionInterval, which is 5s."
        ),
        ("{\"relayOnly\": true}", "relayOnly: there is no relay; write one as iceServers or turnServers."),
        ("{\"stunServers\": \"a\"}", "line 1, stunServers: it is text; write a list."),
        (
            "{\"stunServers\": [\"a\", \"turn:b:1:2\"]}",
            "line 1, stunServers[1]: it is no address of a STUN server; "
                + "write HOST, HOST:PORT or stun:HOST:PORT."
        ),
        ("{\"stunServers\": [\"\"]}", "line 1, stunServers[0]: it is empty; write some text."),
        ("{\"iceServers\": [\"stun:a\"]}", "line 1, iceServers[0]: it is text; write an object."),
        ("{\"iceServers\": [{\"url\": \"stun:a\"}]}", "line 1, iceServers[0].url: there is no such key; write urls."),
        ("{\"iceServers\": [{}]}", "line 1, iceServers[0].urls: it is missing."),
        ("{\"iceServers\": [{\"urls\": []}]}", "line 1, iceServers[0].urls: it is empty; write \(addresses)"),
        (
            "{\"iceServers\": [{\"urls\": [\"stun:a\", 5]}]}",
            "line 1, iceServers[0].urls[1]: it is a number; write "
                + "text in quotation marks."
        ),
        (
            "{\"iceServers\": [{\"urls\": \"turn:bob:north@b\"}]}",
            "line 1, iceServers[0].urls: it is no address of a "
                + "server; write \(addresses)"
        ),
        (
            "{\"iceServers\": [{\"urls\": \"turn:b?password=north\"}]}",
            "line 1, iceServers[0].urls: it is no address of "
                + "a server; write \(addresses)"
        ),
        (
            "{\"iceServers\": [{\"urls\": \"turn:b\", \"username\": \"bob\"}]}",
            "line 1, iceServers[0].credential: it is "
                + "missing; a relay requires it."
        ),
        (
            "{\"iceServers\": [{\"urls\": \"turn:b\", \"username\": \"bob\", \"credential\": [\"north\"]}]}",
            "line 1, iceServers[0].credential: it is a list; write text in quotation marks."
        ),
        (
            "{\"iceServers\": [{\"urls\": \"stun:b\", \"credential\": \"north\"}]}",
            "line 1, iceServers[0].credential: a STUN server does not heed it; relays do. Leave it out."
        ),
        (
            "{\"turnServers\": [{\"urls\": \"stun:b\"}]}",
            "line 1, turnServers[0].urls: it is no address of a relay; "
                + "write it as stunServers or iceServers."
        ),
        (
            "{\"stunServers\": [\(Array(repeating: "\"a\"", count: 33).joined(separator: ","))]}",
            "line 1, stunServers: it has 33 elements; write at most 32."
        ),
        (
            "{\"stunServers\": [\"\(String(repeating: "a", count: 1025))\"]}",
            "line 1, stunServers[0]: it has 1025 bytes; write at most 1024."
        ),
        (String(repeating: " ", count: 65_537), "it is longer than 65536 bytes."),
    ]

    private func error(_ text: String) -> InletError? {
        do throws(InletError) {
            _ = try RTCConfiguration(json: Array(text.utf8), file: "rtc.json")
            return nil
        } catch {
            return error
        }
    }

    @Test("Errors name the file, the line, the key and the valid values, and no credential", arguments: files.indices)
    func refuses(_ index: Int) throws {
        let (text, words) = Self.files[index]
        let error = try #require(self.error(text))
        let place = words.hasPrefix("line ") || !words.hasPrefix("it ") ? ", " : ": "
        #expect(error.message == "rtc.json\(place)\(words)")
        #expect(error.code == .invalidConfiguration)
        #expect(!error.message.contains("north"))
    }

    @Test(
        "Each loss setting is refused with the delay controller, and used by the others",
        arguments: RTCConfiguration.Key.lossKnobs.map(\.rawValue))
    func heeds(_ key: String) throws {
        let values = ["minPackets": "20", "decisionInterval": "4", "decisionWindow": "12", "criticalInterval": "2"]
        let value = values[key] ?? (key == "highLossThreshold" ? "0.06" : key.hasPrefix("critical") ? "0.3" : "0.02")
        for control in ["", "\"rateControl\": \"delay\", "] {
            #expect(error("{\(control)\"\(key)\": \(value)}")?.message == "rtc.json, \(key): \(Self.heed)")
        }
        for control in ["loss", "automatic"] {
            let text = "{\"\(key)\": \(value), \"rateControl\": \"\(control)\"}"
            let configuration = try RTCConfiguration(json: Array(text.utf8))
            var plain = RTCConfiguration()
            plain.rateControl = configuration.rateControl
            #expect(configuration.rates != plain.rates)
        }
    }

    @Test("Without a file the error names its subject")
    func noFile() {
        let error = #expect(throws: InletError.self) { try RTCConfiguration(json: Array("{\"x\"}".utf8)) }
        #expect(error?.message == "The WebRTC configuration, line 1: a colon is expected after the key \"x\".")
    }
}
