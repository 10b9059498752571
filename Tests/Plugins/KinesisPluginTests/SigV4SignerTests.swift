import InletCore
import ReferenceTools
import Testing

@testable import KinesisPlugin

@Suite struct SigV4SignerTests {
    /// The key of AWS's published examples, which belongs to no account.
    private static let credentials = AWSCredentials(
        accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    /// 2015-08-30, 12:36:00 UTC.
    private static let time = AWSTime(seconds: 1_440_938_160)

    private static func signature(_ request: SigV4Signer.Request) -> String {
        let signer = SigV4Signer(credentials: credentials, region: "us-east-1", service: "service")
        let authorization = signer.sign(request, at: time).first { $0.name == "Authorization" }?.value ?? ""
        return String(authorization.split(separator: "=").last ?? "")
    }

    @Test("Times are written and read by the calendar")
    func times() {
        #expect(Self.time.text == "20150830T123600Z")
        #expect(AWSTime(seconds: 0).text == "19700101T000000Z")
        #expect(AWSTime(seconds: 951_782_399).text == "20000228T235959Z")
        #expect(AWSTime(seconds: 951_868_799).text == "20000229T235959Z")
        #expect(AWSTime(seconds: 4_107_542_400).text == "21000301T000000Z")
        #expect(AWSTime.parse("2015-08-30T12:36:00Z") == Self.time)
        #expect(AWSTime.parse("2015-08-30T12:36:00.123Z") == Self.time)
        #expect(AWSTime.parse("2015-08-30T12:36:00+00:00") == Self.time)
        #expect(AWSTime.parse("2015-08-30T14:36:00+02:00") == Self.time)
        #expect(AWSTime.parse("2015-08-30T03:06:00.5-09:30") == Self.time)
        for text in [
            "", "2015-08-30", "2015-13-30T12:36:00Z", "2015-08-30T25:36:00Z", "2015-08-30T12:36:00",
            "2015-08-30T12:36:00+0200", "2015-08-30T12:36:00+24:00", "2015-08-30T12:36:00~02:00",
            "2015-08-30T12:36:00+02-00",
        ] {
            #expect(AWSTime.parse(text) == nil, "\(text)")
        }
        for seconds in stride(from: Int64(0), to: 5_000_000_000, by: 86_399 * 37) {
            let text = AWSTime(seconds: seconds).text
            let bytes = Array(text)
            let written =
                "\(String(bytes[0..<4]))-\(String(bytes[4..<6]))-\(String(bytes[6..<8]))T"
                + "\(String(bytes[9..<11])):\(String(bytes[11..<13])):\(String(bytes[13..<15]))Z"
            #expect(AWSTime.parse(written) == AWSTime(seconds: seconds))
        }
    }

    /// From the Signature Version 4 Test Suite that AWS published.
    @Test("The published vectors are reproduced")
    func vectors() {
        var vanilla = SigV4Signer.Request(method: "GET", host: "example.amazonaws.com")
        #expect(Self.signature(vanilla) == "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
        vanilla.query = [.init("Param2", "value2"), .init("Param1", "value1")]
        #expect(Self.signature(vanilla) == "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500")
        let post = SigV4Signer.Request(method: "POST", host: "example.amazonaws.com")
        #expect(Self.signature(post) == "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")
        var header = post
        header.headers = [.init("My-Header1", "value1")]
        #expect(Self.signature(header) == "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c")
    }

    @Test("No text of the credentials shows the secret or the token")
    func redacted() {
        let credentials = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "secret", sessionToken: "token")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), "\([credentials])", dumped] {
            #expect(text.contains("AKID"))
            #expect(!text.contains("secret") && !text.contains("token"), "\(text)")
        }
    }
}
