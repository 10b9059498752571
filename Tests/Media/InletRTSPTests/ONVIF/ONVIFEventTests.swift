import InletCore
import InletRTSP
import Testing

/// A session's requests for events, the parsing of the answers, and the events of many detectors.
@Suite struct ONVIFEventTests {
    private static let services = """
        <Service>
            <Namespace>http://www.onvif.org/ver10/events/wsdl</Namespace><XAddr>http://192.0.2.7/e</XAddr>
        </Service>
        """

    private static func message(
        _ topic: String, _ data: String, _ source: String = "<SimpleItem Name='S' Value='0'/>",
        operation: String = "Changed"
    ) -> String {
        """
        <NotificationMessage><Topic>\(topic)</Topic><Message><Message PropertyOperation='\(operation)'>
        <Source>\(source)</Source><Data>\(data)</Data></Message></Message></NotificationMessage>
        """
    }

    private static func item(_ name: String, _ value: String) -> String {
        "<SimpleItem Name='\(name)' Value='\(value)'/>"
    }

    /// Answers the session's next request; the status is 400 if the content is nil.
    private func exchange(_ session: inout ONVIFSession, _ content: String?) throws -> (
        name: String, url: String, text: String
    ) {
        let next = session.next(wantsKeyFrame: false, at: 0, nonce: Array(0..<16))
        let exchange = try #require(next)
        let name = "\(exchange.request.name)"
        let body = content.map { "<Envelope><Body><\(name)Response>\($0)</\(name)Response></Body></Envelope>" }
        let response = RTSPResponse(
            status: body == nil ? 400 : 200, headers: RTSPHeaders([]), body: Array((body ?? "").utf8), isHTTP: true)
        _ = try session.take(response, at: 0)
        return (name, exchange.url.serviceText, String(decoding: exchange.bytes, as: UTF8.self))
    }

    private func session() throws -> ONVIFSession {
        ONVIFSession(
            .init(device: try RTSPURL(service: Array("http://camera/onvif/device_service".utf8)), goal: .events))
    }

    @Test func aSubscriptionIsMadePulledRenewedAndEnded() throws {
        var session = try session()
        let reference =
            "<SubscriptionReference><Address>http://192.0.2.7:8080/sub?id=1</Address></SubscriptionReference>"
        #expect(try exchange(&session, Self.services).name == "GetServices")
        // Behind a router the device states an address that cannot be reached.
        let made = try exchange(&session, reference)
        #expect(made.name == "CreatePullPointSubscription" && made.url == "http://camera/e" && session.isSubscribed)
        #expect(
            made.text.contains(
                ">http://www.onvif.org/ver10/events/wsdl/EventPortType/CreatePullPointSubscriptionRequest</a:Action>"))
        let motion = Self.message("tns1:VideoSource/MotionAlarm", Self.item("State", "true"))
        let pulled = try exchange(&session, motion)
        #expect(pulled.name == "PullMessages" && pulled.text.contains(">http://camera/sub?id=1</a:To>"))
        let (notices, rest) = (session.takeNotices(), session.takeNotices())
        #expect(notices.map(\.isActive) == [true] && rest.isEmpty)
        session.wantsRenewal = true
        #expect(try exchange(&session, "").name == "Renew")
        #expect(try exchange(&session, "").name == "PullMessages")
        // A device that refuses to renew is polled all the same.
        session.wantsRenewal = true
        #expect(try exchange(&session, nil).name == "Renew")
        #expect(try exchange(&session, "").name == "PullMessages")
        session.beginEnding()
        #expect(try exchange(&session, "").name == "Unsubscribe")
        let end = session.next(wantsKeyFrame: false, at: 0, nonce: [])
        #expect(!session.isSubscribed && end == nil)
    }

    @Test(
        "A subscription's address may lack its host, and be given only by parameters",
        arguments: [
            ("http:///sub?id=1", "", "http://camera/sub?id=1"), ("http://:8080/sub", "", "http://camera/sub"),
            ("/sub", "", "http://camera/sub"), (" http://192.0.2.7/sub\n", "", "http://camera/sub"),
            ("", "<Id>5</Id>", "http://camera/e"),
            ("http://www.w3.org/2005/08/addressing/anonymous", "<Id>5</Id>", "http://camera/e"),
            ("http://camera/sub", "<Id>5</Id>", "http://camera/sub"), ("", "", nil), ("urn:uuid:1", "", nil),
        ] as [(String, String, String?)])
    func subscriptionAddress(_ address: String, _ parameters: String, _ expected: String?) throws {
        var session = try session()
        _ = try exchange(&session, Self.services)
        let reference = """
            <SubscriptionReference><Address>\(address)</Address><ReferenceParameters>\(parameters)\
            </ReferenceParameters></SubscriptionReference>
            """
        guard let expected else {
            #expect(throws: InletError.self) { try exchange(&session, reference) }
            return
        }
        _ = try exchange(&session, reference)
        let pulled = try exchange(&session, "")
        #expect(pulled.name == "PullMessages" && pulled.text.contains(">\(expected)</a:To>"))
        #expect(pulled.text.contains(">5</Id>") == parameters.contains("Id"))
    }

    @Test("Parameters of a subscription are sent back in the header, with their namespaces")
    func referenceParameters() throws {
        var session = try session()
        _ = try exchange(&session, Self.services)
        let made = try exchange(
            &session,
            """
            <w:SubscriptionReference xmlns:w="urn:w" xmlns:d="urn:d&amp;1" xmlns="urn:other">
            <w:Address>http://camera/s</w:Address><w:ReferenceParameters>
            <d:Id a="1">5 &lt; 6</d:Id><x:Key xmlns:x="urn:x" xmlns:d="urn:inner"><d:Part/></x:Key>
            </w:ReferenceParameters></w:SubscriptionReference>
            """)
        #expect(!made.text.contains("IsReferenceParameter"))
        for name in ["PullMessages", "Renew", "Unsubscribe"] {
            session.wantsRenewal = name == "Renew"
            if name == "Unsubscribe" { session.beginEnding() }
            let sent = try exchange(&session, "")
            #expect(sent.name == name)
            let body = sent.text.firstRange(of: "\r\n\r\n").map { Array(sent.text[$0.upperBound...].utf8) } ?? []
            // As another parser would read it.
            let header = try #require(try XMLReader.root(of: body).child("Header"))
            let id = try #require(header.child("Id")), key = try #require(header.child("Key"))
            #expect(id.text == Array("5 < 6".utf8) && id.attribute("a") == Array("1".utf8))
            #expect(id.attribute("IsReferenceParameter") == Array("true".utf8))
            #expect(key.attribute("IsReferenceParameter") == Array("true".utf8) && key.children.count == 1)
            #expect(sent.text.contains("xmlns:d=\"urn:d&amp;1\"") && sent.text.contains("xmlns=\"urn:other\""))
        }
    }

    @Test func aDeviceWithoutEventsIsAskedTwice() throws {
        var session = try session()
        #expect(try exchange(&session, "").name == "GetServices")
        let error = #expect(throws: InletError.self) { try exchange(&session, "<Capabilities/>") }
        #expect(error?.code == .unsupported && session.lacksEvents)
        // A subscription that has ended is an error, after which another session subscribes.
        var other = try self.session()
        _ = try exchange(&other, Self.services)
        _ = try exchange(&other, "<SubscriptionReference><Address>http://camera/s</Address></SubscriptionReference>")
        #expect(throws: InletError.self) { try exchange(&other, nil) }
        #expect(!other.isSubscribed && !other.lacksEvents)
        var third = try self.session()
        _ = try exchange(&third, Self.services)
        #expect(throws: InletError.self) { try exchange(&third, "<SubscriptionReference/>") }
    }

    @Test(
        "Motion and tampering are read from the topics of detectors, and all else is ignored",
        arguments: [
            ("tns1:VideoSource/MotionAlarm", item("State", "true"), "Changed", .motion, true),
            ("tns1:RuleEngine/CellMotionDetector/Motion", item("IsMotion", "0"), "Initialized", .motion, false),
            (
                "a:RuleEngine/b:MotionRegionDetector/c:Motion", item("X", "1") + item("State", "1"), "Changed", .motion,
                true
            ),
            ("tns1:VideoSource/GlobalSceneChange/ImagingService", item("State", "false"), "Changed", .tampering, false),
            ("tns1:RuleEngine/TamperDetector/Tamper", item("IsTamper", "true"), "Changed", .tampering, true),
            ("tns1:VideoSource/MotionAlarm", "", "Deleted", .motion, false),
            ("tns1:VideoSource/MotionAlarm", item("State", "maybe"), "Changed", nil, false),
            ("tns1:Device/Trigger/DigitalInput", item("State", "true"), "Changed", nil, false),
            ("tns1:VideoSource/MotionAlarms", item("State", "true"), "Changed", nil, false), ("", "", "", nil, false),
        ] as [(String, String, String, SourceDetection.Kind?, Bool)])
    func notices(_ it: (topic: String, data: String, operation: String, kind: SourceDetection.Kind?, isActive: Bool))
        throws
    {
        var session = try session()
        _ = try exchange(&session, Self.services)
        _ = try exchange(&session, "<SubscriptionReference><Address>http://camera/s</Address></SubscriptionReference>")
        _ = try exchange(&session, Self.message(it.topic, it.data, operation: it.operation))
        let notices = session.takeNotices()
        #expect(notices.map(\.kind) == (it.kind.map { [$0] } ?? []))
        if it.kind != nil { #expect(notices.map(\.isActive) == [it.isActive]) }
    }

    @Test func aConditionBeginsWithTheFirstDetectorAndEndsWithTheLast() throws {
        var session = try session()
        _ = try exchange(&session, Self.services)
        _ = try exchange(&session, "<SubscriptionReference><Address>http://camera/s</Address></SubscriptionReference>")
        var conditions = ONVIFConditions()
        func take(_ changes: [(detector: Int, isActive: Bool)]) throws -> [SourceDetection] {
            let messages = changes.map {
                Self.message(
                    "t:VideoSource/MotionAlarm", Self.item("State", "\($0.isActive)"), Self.item("S", "\($0.detector)"))
            }
            _ = try exchange(&session, messages.joined())
            return session.takeNotices().compactMap { conditions.take($0) }
        }
        let (begins, ends) = (SourceDetection(.motion, isActive: true), SourceDetection(.motion, isActive: false))
        #expect(try take([(0, false), (0, true), (0, true), (1, true), (0, false)]) == [begins])
        #expect(try take([(1, false), (1, false), (2, true)]) == [ends, begins])
        let (first, second) = (conditions.end(), conditions.end())
        #expect(first == [ends] && second == [])
        // The number of detectors that are followed, and of messages read in an answer, is limited.
        #expect(try take((0..<1000).map { ($0, true) }) == [begins])
        #expect(try take((0..<64).map { ($0, false) }) == [ends])
    }
}
