import InletCore
import InletRTSP
import Testing

/// The messages of WS-Discovery, and the parsing of answers.
@Suite struct DiscoveryTests {
    private static let probe = DiscoveryProbe(random: Array(0..<16))
    private static let scope = "onvif://www.onvif.org/"

    private static func match(
        _ endpoint: String = "urn:uuid:1", types: String = "dn:NetworkVideoTransmitter", scopes: String = "",
        addresses: String = "http://192.0.2.1/onvif/device_service"
    ) -> String {
        """
        <d:ProbeMatch><a:EndpointReference><a:Address> \(endpoint)
        </a:Address></a:EndpointReference><d:Types>\(types)</d:Types><d:Scopes>\(scopes)</d:Scopes>
        <d:XAddrs>\(addresses)</d:XAddrs></d:ProbeMatch>
        """
    }

    private static func answer(
        _ matches: String, to messageID: [UInt8] = probe.messageID, name: String = "ProbeMatches"
    ) -> [UInt8] {
        let id = String(decoding: messageID, as: UTF8.self)
        return Array(
            """
            <?xml version="1.0"?><s:Envelope><s:Header><a:RelatesTo>\(id)</a:RelatesTo></s:Header>
            <s:Body><d:\(name)>\(matches)</d:\(name)></s:Body></s:Envelope>
            """.utf8)
    }

    private static func devices(_ matches: String) throws -> [DiscoveredDevice] {
        try DiscoveredDevice.devices(in: answer(matches), answering: probe)
    }

    @Test func theProbeIsXMLWithARandomUUIDAndTheTypeOfCameras() throws {
        #expect(Self.probe.messageID == Array("urn:uuid:00010203-0405-4607-8809-0a0b0c0d0e0f".utf8))
        #expect(DiscoveryProbe(random: []).messageID == Array("urn:uuid:00000000-0000-4000-8000-000000000000".utf8))
        let root = try XMLReader.root(of: Self.probe.envelope)
        #expect(root.first("Header", "MessageID")?.text == Self.probe.messageID)
        #expect(root.first("Body", "Probe", "Types")?.text == Array("dn:NetworkVideoTransmitter".utf8))
        #expect(Self.probe.envelope.count < 1024)
    }

    @Test func namesModelsAndPlacesAreDecodedAndSafeOnATerminal() throws {
        let long = String(repeating: "%41", count: 4000)
        let cases: [(scopes: String, name: String, hardware: String, location: String)] = [
            ("", "", "", ""),
            (
                "\(Self.scope)name/A%20b \(Self.scope)hardware/M1\n\t\(Self.scope)location/hall%2F3", "A b", "M1",
                "hall/3"
            ),
            ("\(Self.scope)name/%C3%A9t%C3%A9 \(Self.scope)name/two", "\u{E9}t\u{E9}", "", ""),
            ("ONVIF://WWW.onvif.org/Name/x", "x", "", ""),
            ("\(Self.scope)location/country/is \(Self.scope)location/b", "", "", "country/is, b"),
            ("\(Self.scope)name/%1B%5B2J%E2%80%AEx%0A", "\\u{1B}[2J\\u{202E}x\\u{A}", "", ""),
            ("\(Self.scope)name/%FF%zz%4", "\u{FFFD}%zz%4", "", ""),
            ("\(Self.scope)name/ \(Self.scope)name x://www.onvif.org/name/y onvif://other/name/y", "", "", ""),
            ("\(Self.scope)name/\(long)", String(repeating: "A", count: 125) + "...", "", ""),
        ]
        for item in cases {
            let device = try #require(try Self.devices(Self.match(scopes: item.scopes)).first)
            #expect(device.name == item.name)
            #expect(device.hardware == item.hardware && device.location == item.location)
        }
    }

    @Test func theServicesAreTheAddressesAtTheHostThatAnswered() throws {
        let given = "http://192.0.2.9/a http://u:s3cr3t@192.0.2.1:8080/b http://192.0.2.1/c http://192.0.2.1:8080/b"
        let bytes = Self.answer(Self.match(addresses: given))
        func services(_ sender: String?) throws -> [String]? {
            try DiscoveredDevice.devices(in: bytes, answering: Self.probe, from: sender.map { Array($0.utf8) })
                .first?.services.map(\.serviceText)
        }
        #expect(try services("192.0.2.1") == ["http://192.0.2.1:8080/b", "http://192.0.2.1/c"])
        #expect(try services("192.0.2.2") == [] && services(nil) == [])
        // A device may state another address in each of its answers.
        var answers = DiscoveryAnswers(to: Self.probe)
        for address in ["http://192.0.2.1/a", "http://192.0.2.1/b", "http://192.0.2.1/a"] {
            answers.take(Self.answer(Self.match(addresses: address)), from: Array("192.0.2.1".utf8))
        }
        #expect(
            answers.devices.map { $0.services.map(\.serviceText) } == [["http://192.0.2.1/a", "http://192.0.2.1/b"]])
    }

    @Test func addressesAreThoseOfHTTPRedactedAndFew() throws {
        let given = """
            http://a/x http://u:s3cr3t@b/y?token=s3cr3t https://[fe80::1]/z javascript:s3cr3t
            file:///etc/s3cr3t http://a/x
            http://\(String(repeating: "c", count: 600))/
            """
        let device = try #require(try Self.devices(Self.match(addresses: given)).first)
        #expect(device.addresses.count == 3)
        #expect(device.addresses.first == "http://a/x" && device.addresses.last == "https://[fe80::1]/z")
        #expect(!device.addresses.joined().contains("s3cr3t"))
        let many = (0..<100).map { "http://10.0.0.\($0)/" }.joined(separator: " ")
        #expect(try Self.devices(Self.match(addresses: many)).first?.addresses.count == DiscoveredDevice.mostAddresses)
        #expect(try Self.devices(Self.match(addresses: "")).first?.addresses == [])
    }

    @Test func whatIsNoCameraOrHasNoIdentityIsLeftOut() throws {
        let other = Self.match("urn:uuid:2", types: "w:PrintDeviceType x:NetworkVideoTransmitterX")
        let long = Self.match(String(repeating: "x", count: 600))
        let found = try Self.devices(
            other + Self.match("") + long + "<d:ProbeMatch/><d:Other/>"
                + Self.match("urn:uuid:3", types: "tds:Device NetworkVideoTransmitter"))
        #expect(found.map(\.endpoint) == ["urn:uuid:3"])
    }

    @Test func aMessageThatDoesNotAnswerTheProbeIsRefused() {
        let answer = Self.answer(Self.match())
        let stranger = Self.answer(Self.match(), to: Array("urn:uuid:00000000-0000-4000-8000-000000000000".utf8))
        let messages: [[UInt8]] = [
            [], Array("<a/>".utf8), stranger, Self.answer(Self.match(), to: []),
            Self.answer("", name: "ResolveMatches"),
            Array("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".utf8), Array(String(repeating: "<a>", count: 9000).utf8),
            Array(repeating: 0xFF, count: 60_000),
        ]
        for message in messages {
            #expect(throws: InletError.self) { try DiscoveredDevice.devices(in: message, answering: Self.probe) }
        }
        // Part of an answer is not an answer.
        for length in stride(from: 0, to: answer.count, by: 7) {
            #expect(throws: InletError.self) {
                try DiscoveredDevice.devices(in: Array(answer.prefix(length)), answering: Self.probe)
            }
        }
    }

    @Test func aDeviceThatAnswersTwiceIsOneWithAllItsAddresses() {
        var answers = DiscoveryAnswers(to: Self.probe)
        answers.take(Self.answer(Self.match("urn:uuid:1", addresses: "http://a/")))
        answers.take(Self.answer(Self.match("urn:uuid:2", addresses: "http://b/")))
        answers.take(Self.answer(Self.match("urn:uuid:1", addresses: "http://a/ http://c/")))
        answers.take(Array("noise".utf8))
        #expect(answers.devices.map(\.endpoint) == ["urn:uuid:1", "urn:uuid:2"])
        #expect(answers.devices.first?.addresses == ["http://a/", "http://c/"])
        #expect(!answers.isCut && !answers.isFull)
    }

    @Test func numberAndSizeOfAnswersAreBounded() {
        var answers = DiscoveryAnswers(to: Self.probe)
        let padding = String(repeating: " ", count: DiscoveryAnswers.longestMessage)
        answers.take(Self.answer(Self.match() + padding))
        #expect(answers.devices.isEmpty)
        for number in 0...DiscoveryAnswers.mostDevices {
            #expect(!answers.isCut)
            answers.take(Self.answer(Self.match("urn:uuid:\(number)")))
        }
        #expect(answers.devices.count == DiscoveryAnswers.mostDevices && answers.isCut)
        for _ in 0..<DiscoveryAnswers.mostMessages { answers.take([]) }
        #expect(answers.isFull)
    }
}
