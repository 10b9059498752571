#if GStreamer
import Foundation
import InletCore
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import KinesisPlugin

/// The renewal of a single sign-on by its refresh token, compared with botocore on the same files and with the same
/// service.
@Suite(.tags(.python), .serialized) struct SignOnRenewalTests {
    private static let token = "sign-on/token+=="
    private static let renewed = "renewed/token+=="
    static let renewal: [String: PeerValue] = [
        "clientId": "client-id", "clientSecret": "client/secret+==", "refreshToken": "first/refresh+==",
        "registrationExpiresAt": "2099-01-01T00:00:00Z",
    ]
    /// Values that no log and no error may show.
    private static let secrets = [
        token, renewed, "client/secret+==", "first/refresh+==", "next/refresh+==", "temporary", "session/token==",
    ]

    /// A token file, the service's behaviour, and the result of both.
    private struct Case {
        var name: String
        /// The token's remaining lifetime.
        var seconds: Double
        /// The profile, and the name of its session.
        var profile = "session"
        var session: String? = "my-sso"
        /// Members of the file instead of those that renew a token.
        var members: [String: PeerValue] = [:]
        var removed = ""
        /// The name of the service's error, and members of its answer.
        var refusal: String?
        var answer: [String: PeerValue] = [:]
        /// Whether the service is asked, and whether there are credentials in the end.
        var isAsked = true
        var isFound = true
    }

    private static let cases = [
        Case(name: "a quarter of an hour and a second left", seconds: 901, isAsked: false),
        Case(name: "a second less than a quarter of an hour left", seconds: 899),
        Case(name: "expired", seconds: -60),
        Case(name: "an answer without a refresh token", seconds: -60, answer: ["refreshToken": .null]),
        Case(name: "refused and expired", seconds: -60, refusal: "InvalidGrantException", isFound: false),
        Case(name: "refused, with ten minutes left", seconds: 600, refusal: "ExpiredTokenException"),
        Case(name: "no refresh token", seconds: -60, removed: "refreshToken", isAsked: false, isFound: false),
        Case(name: "no client", seconds: -60, removed: "clientSecret", isAsked: false, isFound: false),
        Case(
            name: "a registration that has ended", seconds: -60,
            members: ["registrationExpiresAt": "2001-01-01T00:00:00Z"], isAsked: false, isFound: false),
        Case(
            name: "a registration that has ended, with ten minutes left", seconds: 600,
            members: ["registrationExpiresAt": "2001-01-01T00:00:00Z"], isAsked: false),
        Case(
            name: "a profile without sso_session, with ten minutes left", seconds: 600, profile: "legacy",
            session: nil, isAsked: false),
    ]

    @Test("Renewable tokens are renewed by botocore's request and kept in the same file, and others are refused")
    func botocore() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let folder = try TemporaryFolder()
        let home = try SingleSignOnTests.home(folder)
        for each in Self.cases { try await Self.compare(each, service, home) }
    }

    /// Makes botocore and this package use the same file at the same time.
    private static func compare(_ each: Case, _ service: KinesisService, _ home: String) async throws {
        let comment = Comment(rawValue: each.name)
        let now = Int64(Date().timeIntervalSince1970)
        var environment = SingleSignOnTests.environment(home, service.endpoint)
        environment.now = { now }
        var place: PeerMessage = ["home": .string(home), "start": .string(SingleSignOnTests.start)]
        place["session"] = each.session.map { .string($0) }
        func prepare() throws {
            var members = renewal.merging(each.members) { $1 }
            members[each.removed] = nil
            try service.process.send(
                "sign on",
                place.merging([
                    "seconds": .number(each.seconds), "now": .number(Double(now)), "format": "%Y-%m-%dT%H:%M:%SZ",
                    "renewal": .object(members),
                ]) { $1 })
            try service.process.send("plan", ["names": .list(each.refusal.map { [.string($0)] } ?? [])])
            try service.process.send("issue", ["answer": .object(each.answer)])
        }
        func kept() throws -> [PeerValue?] {
            let kept = try service.process.send("kept", place)
            return [kept["token"], kept["mode"]]
        }
        /// The requests after the given number, without the spaces of JSON.
        func sent(_ key: String, since count: Int = 0) throws -> [String] {
            guard case .list(let list)? = try service.process.send("state")[key] else { return [] }
            return list.dropFirst(count).map {
                $0.text.replacing(": ", with: ":").replacing(", ", with: ",")
            }
        }
        let (earlierRenewals, earlierRoles) = (try sent("renewals").count, try sent("roles").count)
        try prepare()
        let theirs = try service.process.send(
            "signed on",
            ["home": .string(home), "profile": .string(each.profile), "now": .number(Double(now))],
            within: .seconds(30))
        let theirFile = try kept()
        let theirRenewals = try sent("renewals", since: earlierRenewals)
        let theirRoles = try sent("roles", since: earlierRoles)
        #expect((theirs["error"] == nil) == each.isFound, "\(each.name): \(theirs)")
        #expect(theirRenewals.count == (each.isAsked ? 1 : 0), comment)

        try prepare()
        var found: AWSCredentialsChain.Found?
        do {
            found = try await AWSCredentialsChain(profile: each.profile, environment: environment).find()
        } catch {
            #expect(error.code == .authenticationFailed, comment)
            let words = "Sign in: aws sso login --profile \(each.profile)."
            #expect(error.message.containsBytes(words), "\(each.name): \(error)")
            for secret in secrets { #expect(!"\(error)".containsBytes(secret), "\(each.name): \(error)") }
        }
        #expect((found != nil) == each.isFound, comment)
        #expect(found?.credentials.accessKeyID == theirs["key"]?.text, comment)
        #expect((found?.warning != nil) == (each.refusal != nil && each.isFound), comment)
        #expect(try kept() == theirFile, comment)
        #expect(theirFile[1] == "0o600", comment)
        let isNew = theirFile[0]?.text.containsBytes(renewed) == true
        #expect(isNew == (each.isAsked && each.refusal == nil), comment)
        #expect(try sent("renewals", since: earlierRenewals) == theirRenewals + theirRenewals, comment)
        #expect(try sent("roles", since: earlierRoles) == theirRoles + theirRoles, comment)
    }

    @Test(
        "By default AWS's own service of the region renews, by HTTPS",
        arguments: ["eu-central-1", "cn-north-1", "us-gov-west-1"])
    func address(region: String) async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let url = try service.process.send(
            "portal", ["service": "sso-oidc", "region": .string(region)], within: .seconds(30))["url"]
        let asked = Mutex("")
        var environment = KinesisService.environment(
            [:],
            files: [
                "/home/nobody/.aws/config": SingleSignOnTests.config.replacing(
                    KinesisService.region, with: region),
                Self.path: Self.file(),
            ])
        environment.http = { (request: AWSRequest) async throws(InletError) in
            asked.withLock { $0 = request.url }
            return AWSResponse(status: 500)
        }
        let error = await SingleSignOnTests.failure("session", environment)
        #expect(error?.code == .serverUnavailable, "\(error as Any)")
        #expect(asked.withLock { $0 } == "\(url?.text ?? "?")/token")
        #expect(url?.text.hasPrefix("https://") == true)
    }

    private static let path = "/home/nobody/.aws/sso/cache/0ad374308c5a4e22f723adf10145eafad7c4031c.json"

    /// An expired token that can be renewed.
    private static func file(access: String = token, until end: String = "2001-01-01T00:00:00Z") -> String {
        """
        {"accessToken":"\(access)","expiresAt":"\(end)","clientId":"client-id","clientSecret":"client/secret+==",\
        "registrationExpiresAt":"2099-01-01T00:00:00Z","refreshToken":"first/refresh+=="}
        """
    }

    /// Answers instead of the service: to a renewal as configured, and to everything else with credentials.
    private static func environment(
        _ files: [String: String], answer: @escaping @Sendable () throws(InletError) -> AWSResponse
    ) -> AWSEnvironment {
        var environment = KinesisService.environment(
            ["AWS_ENDPOINT_URL_SSO": "http://127.0.0.1:9", "AWS_ENDPOINT_URL_SSO_OIDC": "http://127.0.0.1:9"],
            files: files.merging(["/home/nobody/.aws/config": SingleSignOnTests.config]) { $1 })
        environment.http = { (request: AWSRequest) async throws(InletError) in
            if request.url.hasSuffix("/token") { return try answer() }
            let bearer = request.headers.first { $0.name == "x-amz-sso_bearer_token" }?.value ?? ""
            return AWSResponse(
                status: 200,
                body: """
                    {"roleCredentials":{"accessKeyId":"\(bearer.filter(\.isLetter))","secretAccessKey":"B",\
                    "sessionToken":"C","expiration":4070908800000}}
                    """)
        }
        return environment
    }

    @Test("A failed renewal is an error that states whether to sign in or retry later, without the sent values")
    func failures() async throws {
        func renewal(_ body: String) -> AWSResponse { AWSResponse(status: 200, body: body) }
        func refusal(_ status: Int, _ name: String) -> AWSResponse {
            AWSResponse(
                status: status, headers: [.init("x-amzn-errortype", name)],
                body: "{\"error_description\":\"first/refresh+==\"}")
        }
        let cases: [(Result<AWSResponse, InletError>, InletError.Code, String)] = [
            (.failure(InletError(.connectionRefused, "nobody")), .connectionRefused, "nobody"),
            (.failure(InletError(.timedOut, "late")), .timedOut, "late"),
            (
                .success(refusal(400, "InvalidGrantException:x")), .authenticationFailed,
                "(400 InvalidGrantException)"
            ),
            (.success(refusal(401, "InvalidClientException")), .authenticationFailed, "--profile session"),
            (.success(refusal(400, "SlowDownException")), .serverUnavailable, "Try later"),
            (.success(refusal(500, "InternalServerException")), .serverUnavailable, "Try later"),
            (.success(refusal(302, "")), .authenticationFailed, "(302 )"),
            (.success(renewal("[]")), .malformedData, "without a token"),
            (.success(renewal("{\"accessToken\":\"a\"}")), .malformedData, "without a token"),
            (.success(renewal("{\"accessToken\":\"a b\",\"expiresIn\":9}")), .malformedData, "without a token"),
            (.success(renewal("{\"accessToken\":\"a\",\"expiresIn\":0}")), .malformedData, "without a token"),
            (.success(renewal("{\"accessToken\":\"a\",\"expiresIn\":-1}")), .malformedData, "without a token"),
            (
                .success(renewal("{\"accessToken\":\"a\",\"expiresIn\":9223372036854775807}")), .malformedData,
                "without a token"
            ),
            (
                .success(renewal("{\"accessToken\":\"a\",\"expiresIn\":99999999999999999999}")), .malformedData,
                "without a token"
            ),
        ]
        for (result, code, text) in cases {
            let environment = Self.environment([Self.path: Self.file()]) { () throws(InletError) in
                try result.get()
            }
            let error = await SingleSignOnTests.failure("session", environment)
            #expect(error?.code == code && error?.message.containsBytes(text) == true, "\(text): \(error as Any)")
            for secret in Self.secrets { #expect("\(error as Any)".containsBytes(secret) == false) }
        }
        // An eavesdropper at an endpoint without TLS gets nothing.
        var open = Self.environment([Self.path: Self.file()]) { () throws(InletError) in
            Issue.record("it was asked")
            return AWSResponse(status: 500)
        }
        let variable = open.variable
        open.variable = { $0 == "AWS_ENDPOINT_URL_SSO_OIDC" ? "http://203.0.113.1" : variable($0) }
        #expect(await SingleSignOnTests.failure("session", open)?.code == .addressRefused)
    }

    @Test("A token that another program has renewed is used, and so is one that cannot be saved")
    func races() async throws {
        let reads = Mutex(0)
        var environment = Self.environment([:]) { () throws(InletError) in
            AWSResponse(status: 400, headers: [.init("x-amzn-errortype", "InvalidGrantException")])
        }
        environment.file = { (path: String) throws(InletError) in
            guard path == Self.path else { return SingleSignOnTests.config }
            let count = reads.withLock { reads in
                reads += 1
                return reads
            }
            return count == 1 ? Self.file() : Self.file(access: "another", until: "2099-01-01T00:00:00Z")
        }
        let found = try await AWSCredentialsChain(profile: "session", environment: environment).find()
        #expect(found.credentials.accessKeyID == "another" && found.warning == nil)

        let unkept = Self.environment([Self.path: Self.file()]) { () throws(InletError) in
            AWSResponse(status: 200, body: "{\"accessToken\":\"fresh\",\"expiresIn\":9}")
        }
        let other = try await AWSCredentialsChain(profile: "session", environment: unkept).find()
        #expect(other.credentials.accessKeyID == "fresh")
        #expect(other.warning?.containsBytes("was renewed, but not saved") == true)
    }

    @Test("After a refusal an expired token's file is read again for two seconds, until another program writes it")
    func rereads() async throws {
        for writes in [true, false] {
            let file = Mutex(Self.file())
            let waits = Mutex([Duration]())
            var environment = Self.environment([:]) { () throws(InletError) in
                AWSResponse(status: 400, headers: [.init("x-amzn-errortype", "InvalidGrantException")])
            }
            environment.file = { (path: String) throws(InletError) in
                path == Self.path ? file.withLock { $0 } : SingleSignOnTests.config
            }
            environment.sleep = { wait in
                let count = waits.withLock { waits in
                    waits.append(wait)
                    return waits.count
                }
                guard writes, count == 3 else { return }
                file.withLock { $0 = Self.file(access: "another", until: "2099-01-01T00:00:00Z") }
            }
            let chain = AWSCredentialsChain(profile: "session", environment: environment)
            if writes {
                let found = try await chain.find()
                #expect(found.credentials.accessKeyID == "another" && found.warning == nil)
                #expect(waits.withLock { $0.count } == 3)
            } else {
                #expect(await SingleSignOnTests.failure("session", environment)?.code == .authenticationFailed)
                #expect(waits.withLock { $0.reduce(.zero, +) } == .seconds(2))
            }
        }
    }

    @Test("A channel is reached by a renewed sign-on, and no log has a secret")
    func channel() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let folder = try TemporaryFolder()
        let home = try SingleSignOnTests.home(folder)
        let lines = LogLines()
        var configuration = service.configuration()
        configuration.profile = "session"
        for (seconds, refusals) in [(-60, []), (600, ["InvalidGrantException"])] as [(Double, [PeerValue])] {
            try service.process.send(
                "sign on",
                [
                    "home": .string(home), "start": .string(SingleSignOnTests.start), "seconds": .number(seconds),
                    "format": "%Y-%m-%dT%H:%M:%SZ", "session": "my-sso", "renewal": .object(Self.renewal),
                ])
            try service.process.send("plan", ["names": .list(refusals)])
            let master = try KinesisSignaling(
                configuration, SingleSignOnTests.environment(home, service.endpoint),
                Logger(label: "test") { _ in lines })
            try await master.waitUntilOpen(within: .seconds(20))
            await master.close()
        }
        #expect(
            lines.all.filter { $0.containsBytes("expires soon.") }.map { $0.hasPrefix("warning ") }
                == [true], "\(lines.all)")
        for secret in Self.secrets { #expect(!lines.all.contains { $0.containsBytes(secret) }, "\(lines.all)") }
    }

    @Test("HTTPS checks the certificate: an unknown server gets no token, and one of a known authority does")
    func certificate() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let folder = try TemporaryFolder()
        let home = try SingleSignOnTests.home(folder)
        func signOn() throws {
            try service.process.send(
                "sign on",
                [
                    "home": .string(home), "start": .string(SingleSignOnTests.start), "seconds": -60,
                    "format": "%Y-%m-%dT%H:%M:%SZ", "session": "my-sso", "renewal": .object(Self.renewal),
                ])
        }
        try signOn()
        let stranger = await SingleSignOnTests.failure(
            "session", SingleSignOnTests.environment(home, service.secureEndpoint))
        #expect(stranger?.code == .tlsFailed, "\(stranger as Any)")
        #expect(try service.process.send("state")["requests"] == .list([]))
        let theirs = try service.process.send(
            "signed on",
            ["home": .string(home), "profile": "session", "authority": .string(service.authority)],
            within: .seconds(30))
        #expect(theirs["error"] == nil, "\(theirs)")
        #expect(try service.process.send("state")["requests"] == .list(["CreateToken", "GetRoleCredentials"]))

        // The system's authorities are replaced by that of the service, for one process.
        try signOn()
        let script = folder.path("script")
        try Data(
            """
            mount --bind '\(service.authority)' /etc/ssl/certs/ca-certificates.crt
            exec "$@"
            """.utf8
        ).write(to: URL(fileURLWithPath: script))
        let inlet = Process()
        inlet.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        inlet.arguments = [
            "unshare", "--mount", "sh", script, "env", "HOME=\(home)", "AWS_EC2_METADATA_DISABLED=true",
            "AWS_ENDPOINT_URL=\(service.secureEndpoint)", BuiltProgram.inlet, "run",
            "pattern:timecode?size=320x240&fps=10", "--to",
            "kvs:porch?profile=session&region=\(KinesisService.region)&tls-ca=\(service.authority)",
        ]
        inlet.standardInput = FileHandle.nullDevice
        try inlet.run()
        defer {
            inlet.terminate()
            inlet.waitUntilExit()
        }
        let state = try service.process.send("connected", ["sockets": 1], within: .seconds(40))
        #expect(state["sockets"] == 1 && state["master"] == true, "\(state)")
        guard case .list(let requests)? = state["requests"] else {
            Issue.record("no requests")
            return
        }
        #expect(requests.suffix(from: 2).prefix(2) == ["CreateToken", "GetRoleCredentials"], "\(requests)")
    }
}
#endif
