#if GStreamer
import Foundation
import InletCore
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import KinesisPlugin

/// The places where credentials are found, their order, and when they are loaded again.
@Suite struct AWSCredentialsTests {
    private static let shared = "/home/nobody/.aws/credentials"
    private static let config = "/home/nobody/.aws/config"
    private static let secret = "wJalrXUtnFEMI"

    private static func find(
        _ variables: [String: String], files: [String: String] = [:], profile: String? = nil
    ) async -> Result<AWSCredentialsChain.Found, InletError> {
        var environment = KinesisService.environment(variables, files: files)
        environment.http = { (_: AWSRequest) async throws(InletError) in
            throw InletError(.connectionRefused, "nobody")
        }
        do {
            return .success(try await AWSCredentialsChain(profile: profile, environment: environment).find())
        } catch {
            return .failure(error)
        }
    }

    private static let files = [
        shared: """
        # Keys.
        [default]
        aws_access_key_id = AKIDEFAULT
        aws_secret_access_key=\(secret)

        [ studio ]\r
        AWS_ACCESS_KEY_ID=AKISTUDIO\r
        aws_secret_access_key = \(secret)\r
        aws_session_token = token==\r
        [half]
        aws_access_key_id = AKIHALF
        """,
        config: """
        [default]
        region = eu-west-1
        s3 =
          max_concurrent_requests = 20
        [profile studio]
        region=us-west-2
        [profile config-only]
        aws_access_key_id=AKICONFIG
        aws_secret_access_key=\(secret)
        """,
    ]

    @Test("The environment comes first, then the profile of the shared files, and a named profile before both")
    func order() async throws {
        let variables = ["AWS_ACCESS_KEY_ID": "AKIENV", "AWS_SECRET_ACCESS_KEY": Self.secret]
        #expect(try await Self.find(variables, files: Self.files).get().credentials.accessKeyID == "AKIENV")
        let fromFile = try await Self.find([:], files: Self.files).get()
        #expect(fromFile.credentials.accessKeyID == "AKIDEFAULT")
        #expect(fromFile.origin.contains("default") && fromFile.origin.contains(Self.shared))
        #expect(!fromFile.origin.contains(Self.secret))
        let studio = try await Self.find(["AWS_PROFILE": "studio"], files: Self.files).get().credentials
        #expect(
            studio
                == AWSCredentials(
                    accessKeyID: "AKISTUDIO", secretAccessKey: Self.secret, sessionToken: "token=="))
        let named = try await Self.find(variables, files: Self.files, profile: "config-only").get().credentials
        #expect(named.accessKeyID == "AKICONFIG")
    }

    @Test("Incomplete, unknown or unsupported settings are an error that states so and shows no secret")
    func errors() async {
        let identity = ["AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ROLE_ARN": "arn:aws:iam::1:role/x"]
        let cases: [([String: String], [String: String], String?, InletError.Code, String)] = [
            (["AWS_ACCESS_KEY_ID": "A"], [:], nil, .invalidConfiguration, "AWS_SECRET_ACCESS_KEY"),
            (
                ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "\(Self.secret)\nX: y"], [:], nil,
                .invalidConfiguration, "Copy them again"
            ),
            ([:], Self.files, "half", .invalidConfiguration, "aws_secret_access_key"),
            ([:], Self.files, "nobody", .notFound, "no profile 'nobody'"),
            ([:], [Self.shared: "[default\n"], nil, .malformedData, "line 1"),
            ([:], [Self.shared: "[default]\n\(Self.secret)\n"], nil, .malformedData, "line 2"),
            ([:], [Self.shared: String(repeating: "\n", count: 20_000)], nil, .malformedData, "10000 lines"),
            (["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://203.0.113.1/x"], [:], nil, .addressRefused, "https:"),
            (["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.evil.example/x"], [:], nil, .addressRefused, ""),
            (
                ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://localhost@evil.example/"], [:], nil, .addressRefused,
                ""
            ),
            (["AWS_WEB_IDENTITY_TOKEN_FILE": "/t"], [:], nil, .invalidConfiguration, "AWS_ROLE_ARN is not"),
            (
                ["AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ROLE_ARN": "x"], [:], nil, .invalidConfiguration,
                "not an ARN"
            ),
            (identity, [:], nil, .notFound, "'/t'"), (identity, ["/t": "a b"], nil, .malformedData, "'/t'"),
            (identity, ["/t": "a"], nil, .connectionRefused, ""),
            (
                identity.merging(["AWS_ENDPOINT_URL_STS": "http://203.0.113.1"]) { $1 }, ["/t": "a"], nil,
                .addressRefused, "https:"
            ),
            (
                [:], [Self.config: "[profile pod]\nweb_identity_token_file = /t"], "pod", .invalidConfiguration,
                "no role_arn"
            ),
            (
                [:], [Self.config: "[profile pod]\nweb_identity_token_file = /t\nrole_arn = arn:x"], "pod",
                .notFound,
                "the profile 'pod'"
            ),
            ([:], [:], nil, .authenticationFailed, "aws configure"),
        ]
        for (variables, files, profile, code, text) in cases {
            guard case .failure(let error) = await Self.find(variables, files: files, profile: profile) else {
                Issue.record("\(text): no error")
                continue
            }
            #expect(error.code == code, "\(error)")
            #expect(error.message.containsBytes(text) || text.isEmpty, "\(error)")
            #expect(!error.message.contains(Self.secret), "\(error)")
        }
    }

    @Test("An empty file has no credentials, and a file that is too long, no text or no file is refused")
    func reading() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("credentials")
        let read = AWSEnvironment.process.file
        #expect(try read(path) == nil)
        for (text, isRead) in [("", true), (" ", true), (String(repeating: "#", count: 262_145), false)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect((try? read(path)) == (isRead ? text : nil), "\(text.count) bytes")
        }
        #expect(try read("/dev/null") == "")
        try Data([0xFF]).write(to: URL(fileURLWithPath: path))
        for path in [path, folder.path("")] {
            let error = #expect(throws: InletError.self) { try read(path) }
            #expect(error?.code == .malformedData)
        }
    }

    @Test("The region is that of the environment, or of the profile")
    func region() throws {
        func region(_ variables: [String: String], _ profile: String? = nil) throws -> String? {
            try AWSCredentialsChain(
                profile: profile, environment: KinesisService.environment(variables, files: Self.files)
            ).region()
        }
        #expect(try region([:]) == "eu-west-1")
        #expect(try region(["AWS_DEFAULT_REGION": "eu-north-1"]) == "eu-north-1")
        #expect(try region(["AWS_REGION": "eu-south-1", "AWS_DEFAULT_REGION": "eu-north-1"]) == "eu-south-1")
        #expect(try region([:], "studio") == "us-west-2")
    }

    @Test("Credentials are kept until five minutes before they expire, and longer if there are no others")
    func renewal() async throws {
        let time = Mutex<Int64>(1_000_000)
        let asked = Mutex(0)
        let isDown = Mutex(false)
        var environment = KinesisService.environment(
            ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1/credentials"])
        environment.now = { time.withLock { $0 } }
        environment.http = { (request: AWSRequest) async throws(InletError) in
            if isDown.withLock({ $0 }) { throw InletError(.connectionRefused, "nobody") }
            let number = asked.withLock { count in
                count += 1
                return count
            }
            // An hour from now.
            let ends = AWSTime(seconds: time.withLock { $0 } + 3600).text
            let bytes = Array(ends)
            let text =
                "\(String(bytes[0..<4]))-\(String(bytes[4..<6]))-\(String(bytes[6..<8]))T"
                + "\(String(bytes[9..<11])):\(String(bytes[11..<13])):\(String(bytes[13..<15]))Z"
            return AWSResponse(
                status: 200,
                body: """
                    {"AccessKeyId":"AKI\(number)","SecretAccessKey":"s","Token":"t","Expiration":"\(text)"}
                    """)
        }
        let cache = AWSCredentialsCache(
            AWSCredentialsChain(environment: environment), Logger(label: "test"))
        #expect(try await cache.credentials().accessKeyID == "AKI1")
        time.withLock { $0 += 3200 }
        #expect(try await cache.credentials().accessKeyID == "AKI1")
        time.withLock { $0 += 200 }
        #expect(try await cache.credentials().accessKeyID == "AKI2")
        isDown.withLock { $0 = true }
        time.withLock { $0 += 3500 }
        #expect(try await cache.credentials().accessKeyID == "AKI2")
        time.withLock { $0 += 200 }
        await #expect(throws: InletError.self) { try await cache.credentials() }
    }
}
#endif
