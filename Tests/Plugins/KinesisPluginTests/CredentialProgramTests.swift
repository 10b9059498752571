#if GStreamer
import Foundation
import InletCore
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import KinesisPlugin

/// Programs that print credentials: failing, lasting and renewing ones.
@Suite struct CredentialProgramTests {
    private static let config = "/home/nobody/.aws/config"
    private static let secret = "wJalrXUtnFEMI"

    private static func json(_ key: String, more: String = "") -> String {
        "{\"Version\": 1, \"AccessKeyId\": \"\(key)\", \"SecretAccessKey\": \"\(secret)\"\(more)}"
    }

    private static func find(_ settings: String, limit: Duration? = nil) async -> Result<
        AWSCredentialsChain.Found, InletError
    > {
        var environment = KinesisService.environment([:], files: [config: "[profile camera]\n\(settings)"])
        if let limit {
            environment.program = { (words, name) throws(InletError) in
                try await CredentialProgram(limit: limit).output(of: words, name: name)
            }
        }
        do {
            return .success(try await AWSCredentialsChain(profile: "camera", environment: environment).find())
        } catch {
            return .failure(error)
        }
    }

    @Test("A program gets its arguments and no input, and its credentials are used")
    func success() async throws {
        let more = ", \"SessionToken\": \"t==\", \"Expiration\": \"2099-01-01T02:00:00+02:00\""
        let found = try await Self.find(
            "credential_process = sh -c 'cat; echo warning >&2; echo \"$1\"' sh '\(Self.json("AKI", more: more))'"
        ).get()
        #expect(
            found.credentials
                == AWSCredentials(
                    accessKeyID: "AKI", secretAccessKey: Self.secret, sessionToken: "t==",
                    expiration: 4_070_908_800))
        #expect(found.origin == "the credential_process of the profile 'camera'")
    }

    @Test(
        "A program that fails or prints no credentials is an error that states so without its output",
        arguments: [
            (
                "echo \(secret); echo 'Token has expired' >&2; exit 3", InletError.Code.serverUnavailable,
                "failed with exit status 3. Its standard error ends with 'Token has expired'."
            ),
            ("echo \(secret); exit 3", .serverUnavailable, "Run its command in a terminal"),
            ("kill -9 $$", .serverUnavailable, "terminated by signal 9"),
            ("echo \(secret)", .malformedData, "contains no credentials"), ("", .malformedData, "no credentials"),
            ("printf \"\\\\377\"", .malformedData, "no credentials"),
            ("yes \(secret)", .malformedData, "longer than 65536 bytes"),
            ("trap \"\" PIPE; yes \(secret); exit 1", .malformedData, "longer than 65536 bytes"),
        ])
    func failures(script: String, code: InletError.Code, words: String) async throws {
        let quoted = script.replacing("'", with: "'\\''")
        guard case .failure(let error) = await Self.find("credential_process = sh -c '\(quoted)'") else {
            Issue.record("no error")
            return
        }
        #expect(error.code == code, "\(error)")
        #expect(error.message.containsBytes(words), "\(error)")
        #expect(error.message.containsBytes("credential_process of the profile 'camera'"), "\(error)")
        #expect(!"\(error)".containsBytes(Self.secret), "\(error)")
    }

    @Test("A command that cannot be run is a permanent error")
    func commands() async throws {
        for (command, code, words) in [
            ("inlet-has-no-such-program", InletError.Code.notFound, "not found on PATH"),
            ("/", .permissionDenied, "Cannot start /"), ("echo 'a", .invalidConfiguration, "ends with an open '"),
            ("''", .invalidConfiguration, "is missing"),
        ] {
            guard case .failure(let error) = await Self.find("credential_process = \(command)") else {
                Issue.record("\(command): no error")
                continue
            }
            #expect(error.code == code && error.message.containsBytes(words), "\(error)")
            #expect(error.message.containsBytes("credential_process of the profile 'camera'"), "\(error)")
        }
    }

    @Test("Results of another version, without a secret or with an unreadable expiry are refused")
    func results() async throws {
        for (text, words) in [
            (Self.json("A").replacing("1", with: "2"), "\"Version\": 1"),
            (Self.json("A").replacing("\"Version\": 1, ", with: ""), "\"Version\": 1"),
            ("{\"Version\": 1, \"AccessKeyId\": \"A\"}", "\"SecretAccessKey\""),
            (Self.json("A", more: ", \"Expiration\": \"tomorrow\""), "Expiration"), ("[1]", "JSON object"),
        ] {
            guard case .failure(let error) = await Self.find("credential_process = echo '\(text)'") else {
                Issue.record("\(text): no error")
                continue
            }
            #expect(error.code == .malformedData && error.message.containsBytes(words), "\(error)")
            #expect(!"\(error)".containsBytes(Self.secret), "\(error)")
        }
    }

    @Test("A program that does not end is killed at the limit, with the processes that it has started")
    func deadline() async throws {
        let folder = try TemporaryFolder()
        let list = folder.path("processes")
        let script =
            "sleep 1000 & echo $$ $! > \(list).new; mv \(list).new \(list); trap : TERM HUP; wait; sleep 1000"
        var processes: [String] = []
        // On a busy machine the first limits may end before the processes exist.
        for limit in [0.25, 1, 4, 16] as [Double] where processes.isEmpty {
            guard
                case .failure(let error) = await Self.find(
                    "credential_process = sh -c '\(script)'", limit: .seconds(limit))
            else {
                Issue.record("no error")
                return
            }
            #expect(error.code == .timedOut, "\(error)")
            #expect(error.message.containsBytes("was killed, because it took longer than"), "\(error)")
            processes =
                (try? String(contentsOfFile: list, encoding: .utf8))?.split(separator: " ").map(String.init) ?? []
        }
        try #require(processes.count == 2)
        for process in processes { await Waiting.until { !Self.isRunning(process) } }
    }

    /// Whether a process exists and has not ended.
    private static func isRunning(_ process: String) -> Bool {
        let number = process.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let status = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8) else {
            return false
        }
        return status.split(separator: ")").last?.hasPrefix(" Z") != true
    }

    @Test("A cancelled search ends at once, and its program continues")
    func cancellation() async throws {
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let hasEnded = Mutex(false)
        var environment = KinesisService.environment(
            [:], files: [Self.config: "[profile camera]\ncredential_process = a"])
        environment.program = { (_, _) async throws(InletError) in
            for await _ in gate {}
            hasEnded.withLock { $0 = !Task.isCancelled }
            return Self.json("AKI")
        }
        let chain = AWSCredentialsChain(profile: "camera", environment: environment)
        let search = Task { try await chain.find() }
        let outcomes = environment.programOutcomes
        await Waiting.until { outcomes.waiting >= 1 }
        search.cancel()
        let error = await #expect(throws: InletError.self) { try await search.value }
        #expect(error?.code == .cancelled)
        opening.finish()
        await Waiting.until { hasEnded.withLock { $0 } }
    }

    @Test("A profile that only AWS's tools support has an error with the line that makes them provide credentials")
    func unsupported() async throws {
        for (name, settings, setting, end) in [
            ("camera", "sso_session = home\nsso_account_id = 1\nsso_role_name = x\n", "sso_session", "them."),
            (
                "camera", "sso_start_url = https://x\nsso_role_name = x\n", "sso_start_url",
                " Also set sso_account_id, as 'aws configure sso' does."
            ),
            ("camera", "sso_session = home\n", "sso_session", "set sso_account_id and sso_role_name, as "),
            ("camera", "login_session = arn:x\n", "login_session", "them."),
            ("it's", "role_arn = arn:aws:iam::1:role/x\nsource_profile = y\n", "role_arn", "them."),
        ] {
            let file = "[sso-session home]\nsso_start_url = https://x\n[profile \(name)]\n\(settings)"
            var environment = KinesisService.environment([:], files: [Self.config: file])
            let error = await #expect(throws: InletError.self) {
                try await AWSCredentialsChain(profile: name, environment: environment).find()
            }
            #expect(error?.code == .unsupported)
            let message = error?.message ?? ""
            let start =
                "The profile '\(name)' of '\(Self.config)' has no credentials that can be used, because its "
            #expect(message.hasPrefix("\(start)\(setting) is not supported."), "\(message)")
            #expect(end == "them." ? message.hasSuffix(end) : message.containsBytes(end), "\(message)")
            // The line of the message is sufficient.
            let parts = message.components(separatedBy: "Add the line '")
            let line = try #require(parts.last?.components(separatedBy: "' to the profile,").first)
            let asked = Mutex([String]())
            environment.file = { (path: String) throws(InletError) in path == Self.config ? file + line : nil }
            environment.program = { (words, _) throws(InletError) in
                asked.withLock { $0 = words }
                return Self.json("AKI")
            }
            let found = try await AWSCredentialsChain(profile: name, environment: environment).find()
            #expect(found.credentials.accessKeyID == "AKI")
            #expect(
                asked.withLock { $0 } == [
                    "aws", "configure", "export-credentials", "--profile", name, "--format", "process",
                ])
        }
    }
}

/// The same profiles and programs in botocore.
@Suite(.tags(.python), .serialized) struct CredentialProgramPeerTests {
    private static func home(_ folder: TemporaryFolder, config: String, credentials: String = "") throws -> String {
        let home = folder.path("home")
        try FileManager.default.createDirectory(atPath: "\(home)/.aws", withIntermediateDirectories: true)
        for (name, text) in [("config", config), ("credentials", credentials)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(home)/.aws/\(name)"))
        }
        return home
    }

    private static func environment(_ home: String) -> AWSEnvironment {
        var environment = KinesisService.environment(["HOME": home])
        environment.file = AWSEnvironment.process.file
        return environment
    }

    private static func process(_ key: String, version: String = "1", secret: String = "SecretAccessKey") -> String {
        """
        credential_process = echo '{"Version": \(version), "AccessKeyId": "\(key)", "\(secret)": "s"}'
        """
    }

    private static let keys = "aws_access_key_id = AKIKEYS\naws_secret_access_key = s\n"
    /// Profiles, with their settings in the configuration and in the file of keys, and their access key.
    private static let cases: [(name: String, config: String, credentials: String, key: String?)] = [
        ("program", process("AKICONFIG"), "", "AKICONFIG"),
        ("in-credentials", "", process("AKICREDENTIALS"), "AKICREDENTIALS"),
        ("in-both", process("AKICONFIG"), process("AKICREDENTIALS"), "AKICREDENTIALS"),
        ("keys-first", process("AKICONFIG"), keys, "AKIKEYS"),
        ("before-keys", process("AKICONFIG") + "\n" + keys, "", "AKICONFIG"),
        ("session", "sso_session = home\n" + process("AKICONFIG"), "", "AKICONFIG"),
        (
            "quotes",
            #"credential_process = "ec"ho {\"Version\":' 1',\"AccessKeyId\":"\"AK\"",\"SecretAccessKey\":\"s\"}"#,
            "", "AK"
        ),
        ("no-shell", process("AKICONFIG") + " | cat", "", nil),
        ("version", process("AKI", version: "2"), "", nil), ("text", process("AKI", version: "\"1\""), "", nil),
        ("secret", process("AKI", secret: "Secret"), "", nil), ("fails", "credential_process = false", "", nil),
        ("nothing", "credential_process = true", "", nil),
        ("unknown", "credential_process = inlet-has-no-such-program", "", nil),
        ("quote", "credential_process = echo 'a", "", nil),
    ]

    @Test("A program is found, split into words and run as by botocore, and the same results are refused")
    func botocore() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let folder = try TemporaryFolder()
        let home = try Self.home(
            folder,
            config: "[sso-session home]\nsso_region = x\nsso_start_url = https://x\n"
                + Self.cases.map { "[profile \($0.name)]\n\($0.config)\n" }.joined(),
            credentials: Self.cases.map { "[\($0.name)]\n\($0.credentials)\n" }.joined())
        for each in Self.cases {
            let theirs = try service.process.send(
                "profile", ["home": .string(home), "profile": .string(each.name)], within: .seconds(30))
            let chain = AWSCredentialsChain(profile: each.name, environment: Self.environment(home))
            let found = try? await chain.find().credentials
            #expect(found?.accessKeyID == each.key, "\(each.name)")
            #expect(theirs["key"]?.text == each.key, "\(each.name): \(theirs)")
            #expect((theirs["error"] != nil) == (each.key == nil), "\(each.name): \(theirs)")
        }
    }

    @Test(
        "When credentials expire, the program is run again, as by botocore, and requests are signed with its result"
    )
    func renewal() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let folder = try TemporaryFolder()
        let script = folder.path("script")
        // Each run's credentials have another key, and last for as many hours as the square of its number.
        try Data(
            """
            read -r run < $1
            run=$((run + 1))
            echo $run > $1
            end=$(date -u -d "+$((run * run)) hours" +%Y-%m-%dT%H:%M:%SZ)
            echo "{\\"Version\\": 1, \\"AccessKeyId\\": \\"AKI$run\\", \\"SecretAccessKey\\": \\"s\\", \
            \\"SessionToken\\": \\"t\\", \\"Expiration\\": \\"$end\\"}"
            """.utf8
        ).write(to: URL(fileURLWithPath: script))
        let count = folder.path("count")
        func reset() throws { try Data("0\n".utf8).write(to: URL(fileURLWithPath: count)) }
        let home = try Self.home(folder, config: "[profile camera]\ncredential_process = sh '\(script)' '\(count)'")
        try reset()
        let theirs = try service.process.send(
            "profile", ["home": .string(home), "profile": "camera", "later": 3700], within: .seconds(30))
        #expect(theirs["key"]?.text == "AKI1" && theirs["laterKey"]?.text == "AKI2", "\(theirs)")

        try reset()
        let shift = Mutex<Int64>(0)
        var environment = Self.environment(home)
        environment.now = { AWSEnvironment.process.now() + shift.withLock { $0 } }
        let cache = AWSCredentialsCache(
            AWSCredentialsChain(profile: "camera", environment: environment), Logger(label: "test"))
        let first = try await cache.credentials()
        #expect(first.accessKeyID == theirs["key"]?.text && first.sessionToken == theirs["token"]?.text)
        #expect(try await cache.credentials() == first)
        shift.withLock { $0 = 3700 }
        #expect(try await cache.credentials().accessKeyID == theirs["laterKey"]?.text)
        // A program that repeats expired credentials is an error.
        shift.withLock { $0 = 1_000_000 }
        let error = await #expect(throws: InletError.self) { try await cache.credentials() }
        #expect(error?.code == .authenticationFailed && error?.message.containsBytes("have expired") == true)

        // The service knows this temporary key.
        try Data(
            """
            [profile signed]
            credential_process = echo '{"Version": 1, "AccessKeyId": "ASIATEST", "SecretAccessKey": "temporary", \
            "SessionToken": "session/token=="}'
            """.utf8
        ).write(to: URL(fileURLWithPath: "\(home)/.aws/config"))
        let lines = LogLines()
        var configuration = service.configuration()
        configuration.profile = "signed"
        let master = try KinesisSignaling(
            configuration, Self.environment(home), Logger(label: "test") { _ in lines })
        try await master.waitUntilOpen(within: .seconds(20))
        await master.close()
        #expect(lines.all.contains { $0.containsBytes("the credential_process of the profile 'signed'") })
        #expect(!lines.all.contains { $0.containsBytes("temporary") || $0.containsBytes("session/token") })
    }
}
#endif
