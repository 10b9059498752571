import Foundation
import InletCore
import InletRTSP
import Testing

/// The messages of ONVIF, and the parsing of the answers.
@Suite struct ONVIFTests {
    /// From ONVIF's Application Programmer's Guide, section 6.1.1.3, and its sample of a UsernameToken.
    @Test func theDigestIsThatOfONVIFsExample() throws {
        let nonce = try #require(Data(base64Encoded: "LKqI6G/AikKCQrN0zqZFlg=="))
        let digest = UsernameToken.digest(
            of: Array("userpassword".utf8), nonce: Array(nonce), created: Array("2010-09-16T07:50:45Z".utf8))
        #expect(Data(digest).base64EncodedString() == "tuOSpGlFlIXsozq4HFNeeGeFLEI=")
    }

    @Test func theUserIsEscapedAndThePasswordIsNotInTheToken() {
        let credentials = RTSPCredentials(user: Array(#"<a&"b">"#.utf8), password: Array("s3cr3t".utf8))
        let text = String(
            decoding: UsernameToken.element(credentials, nonce: Array(0..<16), time: 0), as: UTF8.self)
        #expect(text.contains(":Username>&lt;a&amp;&quot;b&quot;&gt;</"))
        #expect(text.contains("1970-01-01T00:00:00Z") && !text.contains("s3cr3t"))
    }

    @Test func datesAreThoseOfFoundation() throws {
        let format = ISO8601DateFormatter()
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        // Steps that include each day of the year, and leap days of all kinds: 1972, 2000, not 2100.
        for seconds in stride(from: Int64(0), to: 253_402_300_799, by: 7_864_391) {
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(
                String(decoding: UTCTime(secondsSince1970: seconds).text, as: UTF8.self) == format.string(from: date))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let time = UTCTime(
                year: try #require(parts.year), month: try #require(parts.month), day: try #require(parts.day),
                hour: try #require(parts.hour), minute: try #require(parts.minute),
                second: try #require(parts.second))
            #expect(time?.secondsSince1970 == seconds)
        }
        #expect(UTCTime(year: 2100, month: 2, day: 29, hour: 0, minute: 0, second: 0) == nil)
        #expect(UTCTime(year: 2024, month: 2, day: 29, hour: 0, minute: 0, second: 0) != nil)
        #expect(UTCTime(year: 2024, month: 4, day: 31, hour: 0, minute: 0, second: 0) == nil)
        #expect(UTCTime(year: 2024, month: 13, day: 1, hour: 0, minute: 0, second: 0) == nil)
        #expect(UTCTime(secondsSince1970: .min).text == Array("1970-01-01T00:00:00Z".utf8))
        #expect(UTCTime(secondsSince1970: .max).text == Array("9999-12-31T23:59:59Z".utf8))
    }

    // MARK: XML

    @Test func elementsAttributesAndTextAreRead() throws {
        let text = """
            \u{FEFF}<?xml version="1.0"?><!-- a -- b ><c> -->
            <a:one xmlns:a="urn:a" xmlns='urn:b' b:x = "1 &lt; &#x32;" y='"'><two/> te<![CDATA[<x>&amp;]]>xt&#233;
            <two z="">3</two ></a:one>
            """
        let root = try XMLReader.root(of: Array(text.utf8))
        #expect(root.isNamed("one") && root.children.count == 2)
        #expect(root.attribute("x") == Array("1 < 2".utf8) && root.attribute("y") == Array("\"".utf8))
        #expect(root.attributes.count == 2)
        #expect(root.text == Array("te<x>&amp;xt\u{E9}".utf8))
        #expect(root.children[1].text == Array("3".utf8) && root.first("two")?.text == [])
        #expect(root.first("two", "three") == nil)
    }

    @Test(
        "Malformed XML is refused, and so are constructs that could expand",
        arguments: [
            "", "text", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a/>text", "<a b></a>", "<a b=c/>", "<a b='1'c='2'/>",
            "<a b='<'/>", "<a>&b;</a>", "<a>&#0;</a>", "<a>&#x110000;</a>", "<a>&#xD800;</a>", "<a>&</a>", "<>x</>",
            "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<a><![CDATA[</a>", "<a><!-- </a>", "<?a",
            "<a b='", "<a:b></b>",
        ])
    func damage(_ text: String) {
        #expect(throws: InletError.self) { try XMLReader.root(of: Array(text.utf8)) }
    }

    @Test func depthAndNumberOfElementsAreLimited() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)).utf8)
        }
        _ = try XMLReader.root(of: nested(64))
        #expect(throws: InletError.self) { try XMLReader.root(of: nested(65)) }
        #expect(throws: InletError.self) {
            try XMLReader.root(of: Array(("<a>" + String(repeating: "<b/>", count: 40_000) + "</a>").utf8))
        }
    }

    // MARK: HTTP

    private static let heads: [(head: String, body: String)] = [
        ("Content-Length: 5\r\n", "hello"),
        ("Transfer-Encoding: chunked\r\n", "2\r\nhe\r\n003;a=\"b\"\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n"),
        ("Transfer-Encoding: Chunked\nContent-Length: 1\r\n", "5\nhello\n0\n\n"),
    ]

    @Test("A response is the same in whatever pieces it arrives", arguments: heads.indices)
    func splits(_ index: Int) throws {
        let (head, body) = Self.heads[index]
        let bytes = Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\(head)\r\n\(body)".utf8)
        for size in 1...bytes.count {
            var reader = HTTPResponseReader()
            var response: RTSPResponse?
            for start in stride(from: 0, to: bytes.count, by: size) {
                #expect(response == nil)
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                response = unsafe try reader.receive(piece.span.bytes)
            }
            #expect(response?.status == 200 && response?.body == Array("hello".utf8))
        }
    }

    @Test func aBodyMayEndWithTheConnectionAndNothingElseMay() throws {
        func outcome(_ text: String) throws -> [UInt8] {
            var reader = HTTPResponseReader()
            let bytes = Array(text.utf8)
            if let response = unsafe try reader.receive(bytes.span.bytes) { return response.body }
            return try reader.ended().body
        }
        #expect(try outcome("HTTP/1.0 200 OK\r\n\r\nhello") == Array("hello".utf8))
        #expect(try outcome("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n") == [])
        #expect(try outcome("HTTP/1.1 307 No\r\nContent-Length: 0\r\n\r\nrest") == [])
        for text in [
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "RTSP/1.0 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloo\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 262145\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "a", count: 262_145),
        ] {
            #expect(throws: InletError.self) { try outcome(text) }
        }
    }

    // MARK: Outside bytes

    @Test func mutatedAnswersEndTheSessionOrDoNot() throws {
        let answers = [
            "<s:Envelope><s:Body><GetServicesResponse><Service><Namespace>http://www.onvif.org/ver20/media/wsdl"
                + "</Namespace><XAddr>http://h/m</XAddr></Service></GetServicesResponse></s:Body></s:Envelope>",
            "<Envelope><Body><GetProfilesResponse><Profiles token='a'/><Profiles token='b'/></GetProfilesResponse>"
                + "</Body></Envelope>",
            "<Envelope><Body><GetStreamUriResponse><Uri>rtsp://h/s?a=1&amp;b</Uri></GetStreamUriResponse></Body>"
                + "</Envelope>",
            "<Envelope><Body><Fault><Code><Value>Sender</Value><Subcode><Value>ter:NotAuthorized</Value></Subcode>"
                + "</Code></Fault></Body></Envelope>",
        ].map { Array($0.utf8) }
        var random = Seeded(state: 7)
        let device = try RTSPURL(service: Array("http://h/onvif/device_service".utf8))
        var settings = ONVIFSession.Settings(device: device, stream: try RTSPURL(Array("rtsp://h/s".utf8)))
        settings.credentials = RTSPCredentials(user: [0x61], password: [0x62])
        var finished = 0
        for _ in 0..<2000 {
            var session = ONVIFSession(settings)
            for _ in 0..<12 {
                guard let exchange = session.next(wantsKeyFrame: true, at: .max, nonce: [1]) else { break }
                let place =
                    switch exchange.request {
                    case .services: 0
                    case .profiles: 1
                    case .streamURI: 2
                    default: 3
                    }
                var body = answers[place]
                for _ in 0..<Int.random(in: 0...2, using: &random) where !body.isEmpty {
                    let start = Int.random(in: 0..<body.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: body[start] = .random(in: .min ... .max, using: &random)
                    case 1: body.removeSubrange(start..<min(body.count, start + 9))
                    default: body.insert(contentsOf: body.prefix(start), at: start)
                    }
                }
                let status = [200, 200, 200, 200, 200, 200, 200, 401, 500, 307].randomElement(using: &random) ?? 200
                let headers = RTSPHeaders([("Location", "/x"), ("WWW-Authenticate", "Digest realm=\"a\", nonce=\"b\"")])
                _ = try? session.take(
                    RTSPResponse(status: status, headers: headers, body: body, isHTTP: true), at: .min)
            }
            if session.profile != nil { finished += 1 }
        }
        // Otherwise the mutations would be too strong to reach anything.
        #expect(finished > 50)
    }

    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            // SplitMix64.
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
