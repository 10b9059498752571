#if GStreamer
import Foundation
import InletCore
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import KinesisPlugin

/// Credentials by AWS's single sign-on, compared with botocore on the same files and with the same service.
@Suite(.tags(.python), .serialized) struct SingleSignOnTests {
    static let start = "https://d-1234567890.awsapps.com/start#/"
    private static let token = "sign-on/token+=="
    private static let role = "sso_account_id = 123456789012\nsso_role_name = camera+role@porch,home\n"
    static let config = """
        [profile session]
        sso_session = my-sso
        \(role)
        [sso-session my-sso]
        sso_region = \(KinesisService.region)
        sso_start_url = \(start)
        sso_registration_scopes = sso:account:access
        [profile legacy]
        sso_start_url = \(start)
        sso_region = \(KinesisService.region)
        \(role)
        [profile away]
        sso_session = other
        \(role)
        [sso-session other]
        sso_region = \(KinesisService.region)
        sso_start_url = \(start)
        [profile different]
        sso_session = my-sso
        sso_region = eu-west-1
        \(role)
        [profile half]
        sso_start_url = \(start)
        sso_region = eu-west-1
        sso_role_name = camera
        [profile nowhere]
        sso_session = none
        \(role)
        [profile none]
        sso_session = my-sso
        """

    /// Makes a home folder with `.aws/config`.
    static func home(_ folder: TemporaryFolder) throws -> String {
        let home = folder.path("home")
        try FileManager.default.createDirectory(atPath: "\(home)/.aws", withIntermediateDirectories: true)
        try Data(config.utf8).write(to: URL(fileURLWithPath: "\(home)/.aws/config"))
        return home
    }

    static func environment(_ home: String, _ endpoint: String) -> AWSEnvironment {
        var environment = KinesisService.environment([
            "HOME": home, "AWS_ENDPOINT_URL_SSO": endpoint + "/", "AWS_ENDPOINT_URL_SSO_OIDC": endpoint + "/",
        ])
        environment.file = AWSEnvironment.process.file
        environment.write = AWSEnvironment.process.write
        return environment
    }

    static func failure(_ profile: String, _ environment: AWSEnvironment) async -> InletError? {
        do {
            _ = try await AWSCredentialsChain(profile: profile, environment: environment).find()
            return nil
        } catch {
            return error
        }
    }

    @Test("Files that botocore accepts give the same credentials by the same request, and the others are refused")
    func botocore() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let folder = try TemporaryFolder()
        let home = try Self.home(folder)
        let environment = Self.environment(home, service.endpoint)
        func signOn(_ session: String?, _ seconds: Double, format: String = "%Y-%m-%dT%H:%M:%SZ") throws {
            var message: PeerMessage = [
                "home": .string(home), "start": .string(Self.start), "seconds": .number(seconds),
                "format": .string(format),
            ]
            message["session"] = session.map { .string($0) }
            try service.process.send("sign on", message)
        }
        func theirs(_ profile: String) throws -> PeerMessage {
            try service.process.send(
                "signed on", ["home": .string(home), "profile": .string(profile)], within: .seconds(30))
        }
        try signOn("my-sso", 1800)
        try signOn(nil, 1800, format: "%Y-%m-%dT%H:%M:%SUTC")
        for (number, profile) in ["session", "legacy"].enumerated() {
            let found = try await AWSCredentialsChain(profile: profile, environment: environment).find()
            let theirs = try theirs(profile)
            #expect(theirs["error"] == nil, "\(theirs)")
            #expect(found.credentials.accessKeyID == theirs["key"]?.text)
            #expect(found.credentials.secretAccessKey == theirs["secret"]?.text)
            #expect(found.credentials.sessionToken == theirs["token"]?.text)
            let expiration = found.credentials.expiration ?? 0
            #expect(expiration > environment.now() + 3000 && expiration < environment.now() + 4000)
            guard case .list(let sent)? = try service.process.send("state")["roles"] else {
                Issue.record("no requests")
                return
            }
            #expect(sent.count == 2 * number + 2 && sent.suffix(2).first == sent.last, "\(sent)")
        }
        for profile in ["away", "different", "half", "nowhere"] {
            #expect(await Self.failure(profile, environment) != nil, "\(profile)")
            #expect(try theirs(profile)["error"] != nil, "\(profile)")
        }
        // Without an endpoint of the environment it is AWS's own, by HTTPS.
        for region in ["eu-central-1", "cn-north-1", "us-gov-west-1"] {
            var real = environment
            let asked = Mutex("")
            real.variable = { $0.hasPrefix("AWS_ENDPOINT") ? nil : environment.variable($0) }
            real.file = { (path: String) throws(InletError) in
                try environment.file(path)?.replacing(KinesisService.region, with: region)
            }
            real.http = { (request: AWSRequest) async throws(InletError) in
                asked.withLock { $0 = request.url }
                return AWSResponse(status: 500)
            }
            #expect(await Self.failure("session", real)?.code == .serverUnavailable)
            let url = try service.process.send("portal", ["region": .string(region)], within: .seconds(30))["url"]
            let path = "/federation/credentials?"
            #expect(asked.withLock { $0.hasPrefix("\(url?.text ?? "?")\(path)") }, "\(asked.withLock { $0 })")
            #expect(url?.text.hasPrefix("https://") == true)
        }
        // Both tokens have expired.
        try signOn("my-sso", -1)
        try signOn(nil, -1)
        for profile in ["session", "legacy"] {
            let error = await Self.failure(profile, environment)
            #expect(error?.code == .authenticationFailed)
            let words = "has expired. Sign in: aws sso login --profile \(profile)"
            #expect(error?.message.containsBytes(words) == true)
            #expect(try theirs(profile)["error"] != nil)
        }
    }

    @Test("A channel is reached by a sign-on, a refusal has a clear error, and no log or error has a secret")
    func channel() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let folder = try TemporaryFolder()
        let home = try Self.home(folder)
        let environment = Self.environment(home, service.endpoint)
        let lines = LogLines()
        var configuration = service.configuration()
        configuration.profile = "session"
        func signOn(_ token: String) throws {
            try service.process.send(
                "sign on",
                [
                    "home": .string(home), "start": .string(Self.start), "seconds": 1800,
                    "format": "%Y-%m-%dT%H:%M:%S+00:00", "session": "my-sso", "token": .string(token),
                ])
        }
        try signOn(Self.token)
        let master = try KinesisSignaling(configuration, environment, Logger(label: "test") { _ in lines })
        try await master.waitUntilOpen(within: .seconds(20))
        await master.close()
        var told = lines.all
        #expect(told.contains { $0.containsBytes("the single sign-on of the profile 'session'") }, "\(told)")
        for (name, code, words) in [
            ("UnauthorizedException", InletError.Code.authenticationFailed, "aws sso login --profile session"),
            (
                "ForbiddenException", .authenticationFailed,
                "is not allowed to use the role 'camera+role@porch,home'"
            ),
            ("ResourceNotFoundException", .notFound, "Check sso_role_name and sso_account_id"),
            ("TooManyRequestsException", .serverUnavailable, "Try again later"),
            ("InvalidRequestException", .invalidConfiguration, "(400 InvalidRequestException)"),
        ] {
            try service.process.send("plan", ["names": .list([.string(name)])])
            let error = await Self.failure("session", environment)
            #expect(error?.code == code && error?.message.containsBytes(words) == true, "\(name): \(told)")
            told.append("\(String(describing: error))")
        }
        let stranger = "not/the/token"
        try signOn(stranger)
        let refused = await Self.failure("session", environment)
        #expect(refused?.code == .authenticationFailed)
        told.append("\(String(describing: refused))")
        for secret in [Self.token, stranger, "temporary", "session/token=="] {
            #expect(!told.contains { $0.containsBytes(secret) }, "\(secret): \(told)")
        }
    }

    @Test("An incomplete profile or token file, and an endpoint without TLS, have clear errors")
    func errors() async throws {
        let name = "/home/nobody/.aws/sso/cache/0ad374308c5a4e22f723adf10145eafad7c4031c.json"
        let whole = "{\"accessToken\":\"\(Self.token)\",\"expiresAt\":\"2099-01-01T00:00:00Z\"}"
        func failure(
            _ profile: String, token: String? = whole, portal: String = "http://127.0.0.1:9", answer: String? = nil
        ) async -> InletError? {
            var files = ["/home/nobody/.aws/config": Self.config]
            files[name] = token
            var environment = KinesisService.environment(["AWS_ENDPOINT_URL_SSO": portal], files: files)
            environment.http = { (_: AWSRequest) async throws(InletError) in
                guard let answer else { throw InletError(.connectionRefused, "nobody") }
                return AWSResponse(status: 200, body: answer)
            }
            return await Self.failure(profile, environment)
        }
        let cases: [(InletError?, InletError.Code, String)] = [
            (await failure("away"), .authenticationFailed, "is not signed in"),
            (await failure("different"), .invalidConfiguration, "different values of sso_region"),
            (await failure("half"), .invalidConfiguration, "no sso_account_id"),
            (await failure("nowhere"), .invalidConfiguration, "the sso_session 'none'"),
            (await failure("none"), .invalidConfiguration, "neither sso_account_id nor sso_role_name"),
            (await failure("session", token: nil), .authenticationFailed, "the file '\(name)' does not exist"),
            (await failure("session", token: ""), .malformedData, "no single sign-on token"),
            (
                await failure("session", token: "{\"accessToken\":\"\(Self.token)\"}"), .malformedData,
                "no single sign-on token"
            ),
            (
                await failure("session", token: whole.replacing("sign", with: "a b")), .malformedData,
                "no single sign-on token"
            ),
            (
                await failure("session", token: whole.replacing("2099", with: "20x9")), .malformedData,
                "no single sign-on token"
            ),
            (
                await failure("session", token: whole.replacing("2099", with: "1999")), .authenticationFailed,
                "expired"
            ),
            (await failure("session", portal: "http://203.0.113.1"), .addressRefused, "https:"),
            (await failure("session"), .connectionRefused, ""),
            (await failure("session", answer: "[]"), .malformedData, "returned no credentials"),
            (
                await failure(
                    "session",
                    answer: """
                        {"roleCredentials":{"accessKeyId":"A","secretAccessKey":"B","sessionToken":"C",\
                        "expiration":99999999999999999999}}
                        """), .malformedData, "returned no credentials"
            ),
        ]
        for (error, code, text) in cases {
            #expect(error?.code == code && error?.message.containsBytes(text) == true, "\(text): \(error as Any)")
            #expect(error?.description.containsBytes(Self.token) != true)
        }
    }
}
#endif
