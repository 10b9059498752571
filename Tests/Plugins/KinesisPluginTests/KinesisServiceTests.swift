#if GStreamer
import Foundation
import InletCore
import InletRTC
import Logging
import ReferenceTools
import Testing

@testable import KinesisPlugin

/// Signaling against a local aiohttp service, where botocore checks signatures and requests.
@Suite(.tags(.python), .serialized) struct KinesisServiceTests {
    private static let logger = Logger(label: "test")

    private static func master(
        _ configuration: KinesisConfiguration, _ environment: AWSEnvironment = KinesisService.environment()
    ) throws -> KinesisSignaling {
        try KinesisSignaling(configuration, environment, logger)
    }

    /// The error when a master of this configuration is refused; nil if it is connected.
    private static func refusal(
        _ configuration: KinesisConfiguration, _ environment: AWSEnvironment = KinesisService.environment()
    ) async throws -> InletError? {
        let service = try master(configuration, environment)
        defer { Task { await service.close() } }
        do {
            try await service.waitUntilOpen(within: .seconds(20))
            return nil
        } catch {
            return error
        }
    }

    @Test("Expired credentials, denied access, an unknown key or channel and a wrong clock have clear errors")
    func refusals() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        for (name, code, text) in [
            ("ExpiredTokenException", InletError.Code.authenticationFailed, "have expired. Renew them."),
            ("AccessDeniedException", .authenticationFailed, "needs kinesisvideo:DescribeSignalingChannel"),
        ] {
            try service.process.send("plan", ["names": .list([.string(name)])])
            let error = try await Self.refusal(service.configuration())
            #expect(error?.code == code, "\(String(describing: error))")
            #expect(error?.message.contains(text) == true, "\(String(describing: error))")
        }
        let unknown = try await Self.refusal(service.configuration("elsewhere"))
        #expect(unknown?.code == .notFound)
        #expect(unknown?.description.hasPrefix("kvs:elsewhere: There is no signaling channel") == true)
        let stranger = try await Self.refusal(
            service.configuration(),
            KinesisService.environment(["AWS_ACCESS_KEY_ID": "AKIDX", "AWS_SECRET_ACCESS_KEY": "hidden"]))
        #expect(stranger?.message.contains("does not know the access key") == true)
        let wrong = try await Self.refusal(
            service.configuration(),
            KinesisService.environment(["AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "hidden"]))
        #expect(wrong?.message.contains("Check the secret access key and the region") == true)
        #expect(wrong?.description.contains("hidden") == false)
        let none = try await Self.refusal(service.configuration(), KinesisService.environment([:]))
        #expect(none?.message.contains("No credentials for AWS were found") == true)
        try service.process.send("clock", ["seconds": 7200])
        let skewed = try await Self.refusal(service.configuration())
        #expect(skewed?.message.contains("clock is 120 minutes off") == true, "\(String(describing: skewed))")
    }

    @Test("A service that is too busy is asked again, at most four times, and then reported")
    func throttling() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let busy = PeerValue.string("ThrottlingException")
        try service.process.send("plan", ["names": .list([busy, busy, busy])])
        #expect(try await Self.refusal(service.configuration()) == nil)
        let before = try service.process.send("state")["requests"]
        #expect(
            before?.text.hasPrefix(
                "[\(Array(repeating: "DescribeSignalingChannel", count: 4).joined(separator: ", "))") == true)
        try service.process.send("plan", ["names": .list(Array(repeating: busy, count: 5))])
        let environment = KinesisService.environment()
        let api = try KinesisAPI(
            service.configuration(), environment,
            AWSCredentialsCache(AWSCredentialsChain(environment: environment), Self.logger))
        let error = await #expect(throws: InletError.self) { try await api.channelARN() }
        #expect(error?.code == .serverUnavailable)
        #expect(error?.message.contains("too many requests (ThrottlingException). Try again later.") == true)
    }

    @Test("A channel is created on request, and awaited until it is active; relays have their credentials")
    func creation() async throws {
        let service = try KinesisService(channel: nil)
        defer { service.stop() }
        try service.process.send("relay", ["uri": "turn:192.0.2.7:443?transport=tcp"])
        var configuration = service.configuration("garden")
        configuration.creates = true
        let master = try Self.master(configuration)
        try await master.waitUntilOpen(within: .seconds(20))
        let servers = await master.iceServers()
        #expect(
            servers == [
                try ICEServer(
                    "turn:192.0.2.7:443?transport=tcp", user: "relay user", password: "relay password")
            ])
        let requests = try service.process.send("state")["requests"]?.text ?? ""
        #expect(
            requests == """
                [DescribeSignalingChannel, CreateSignalingChannel, DescribeSignalingChannel, \
                DescribeSignalingChannel, GetSignalingChannelEndpoint, GetIceServerConfig]
                """)
        await master.close()
        #expect(!master.isOpen)
    }

    @Test("The services of containers and of instances issue credentials, with which requests are signed")
    func roles() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let container = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": service.endpoint + "/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": "container token",
        ]
        #expect(try await Self.refusal(service.configuration(), KinesisService.environment(container)) == nil)
        let instance = [
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": service.endpoint, "AWS_EC2_METADATA_DISABLED": "false",
        ]
        #expect(try await Self.refusal(service.configuration(), KinesisService.environment(instance)) == nil)
        var refused = container
        refused["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "other"
        let error = try await Self.refusal(service.configuration(), KinesisService.environment(refused))
        #expect(error?.message.contains("status 401") == true)
        let requests = try service.process.send("state")["requests"]?.text ?? ""
        #expect(requests.contains("credentials, Describe") && requests.contains("instance, instance, Describe"))
    }

    @Test("A web identity is exchanged as by botocore, and a refusal has a clear error without the token")
    func webIdentity() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let token = "web.identity/token+=="
        let folder = try TemporaryFolder()
        let file = folder.path("token")
        try Data(token.utf8).write(to: URL(fileURLWithPath: file))
        let variables = [
            "AWS_WEB_IDENTITY_TOKEN_FILE": file, "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/camera",
            "AWS_ROLE_SESSION_NAME": "porch@home", "AWS_ENDPOINT_URL_STS": service.endpoint + "/",
        ]
        let environment = KinesisService.environment(variables, files: [file: "\(token)\n"])
        let found = try await AWSCredentialsChain(environment: environment).find()
        let theirs = try service.process.send(
            "identity", ["variables": .object(variables.mapValues { .string($0) })], within: .seconds(30))
        #expect(found.credentials.accessKeyID == theirs["key"]?.text)
        #expect(found.credentials.secretAccessKey == theirs["secret"]?.text)
        #expect(found.credentials.sessionToken == theirs["token"]?.text)
        #expect((found.credentials.expiration ?? 0) > environment.now() + 3000)
        guard case .list(let sent)? = try service.process.send("state")["assumed"] else {
            Issue.record("no requests")
            return
        }
        #expect(sent.count == 2 && sent[0] == sent[1], "\(sent)")
        #expect(try await Self.refusal(service.configuration(), environment) == nil, "a channel by these")
        for (name, code, words) in [
            ("ExpiredTokenException", InletError.Code.authenticationFailed, "token has expired"),
            ("AccessDenied", .authenticationFailed, "trust policy"),
            ("IDPCommunicationError", .serverUnavailable, "Try again later"),
            ("PackedPolicyTooLarge", .invalidConfiguration, "(400 PackedPolicyTooLarge)"),
        ] {
            try service.process.send("plan", ["names": .list([.string(name)])])
            let error = await #expect(throws: InletError.self) {
                try await AWSCredentialsChain(environment: environment).find()
            }
            #expect(error?.code == code, "\(name)")
            #expect(error?.message.contains(words) == true && error?.message.contains("& more") == true)
            #expect(error?.message.contains(token) == false)
        }
        var wrong = environment
        wrong.file = { (_: String) throws(InletError) in "another.token" }
        let error = await #expect(throws: InletError.self) {
            try await AWSCredentialsChain(environment: wrong).find()
        }
        #expect(error?.message.contains("does not accept the web identity token") == true)
    }

    @Test("When the service announces new relays, they are requested, and not before")
    func newRelays() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        try service.process.send("relay", ["uri": "turn:192.0.2.7:443"])
        let master = try Self.master(service.configuration())
        try await master.waitUntilOpen(within: .seconds(20))
        #expect(await master.iceServers().map(\.host) == ["192.0.2.7"])
        try service.process.send("relay", ["uri": "turn:192.0.2.8:443"])
        #expect(await master.iceServers().map(\.host) == ["192.0.2.7"], "they have not expired")
        #expect(try service.process.send("state")["relays"]?.int == 1)
        try service.process.send("tell", ["kind": "RECONNECT_ICE_SERVER"])
        for _ in 0..<1000 where await master.iceServers().map(\.host) != ["192.0.2.8"] {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(await master.iceServers().map(\.host) == ["192.0.2.8"])
        let state = try service.process.send("state")
        #expect(state["relays"]?.int == 2 && state["sockets"]?.int == 1, "the connection stays")
        await master.close()
    }

    @Test("The connection is renewed after GO_AWAY, after a break and before its limit, and then receives viewers")
    func reconnections() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        var configuration = service.configuration()
        let master = try Self.master(configuration)
        try await master.waitUntilOpen(within: .seconds(20))
        func sockets(_ count: Int) throws -> Int {
            try service.process.send("connected", ["sockets": .number(Double(count))], within: .seconds(40))[
                "sockets"]?.int ?? 0
        }
        #expect(try sockets(1) == 1)
        try service.process.send("tell", ["kind": "GO_AWAY"])
        #expect(try sockets(2) == 2)
        try await master.waitUntilOpen(within: .seconds(20))
        try service.process.send("drop")
        #expect(try sockets(3) == 3)
        // Messages outside the protocol change nothing.
        for text in [
            "", "{", "{\"messageType\":\"SDP_OFFER\",\"senderClientId\":\"ä\",\"messagePayload\":\"e30=\"}",
        ] {
            try service.process.send("hand", ["text": .string(text)])
        }
        try await master.waitUntilOpen(within: .seconds(20))
        let events = master.events()
        let payload = "eyJ0eXBlIjoib2ZmZXIiLCJzZHAiOiJ2PTBcclxuIn0="
        try service.process.send(
            "hand",
            [
                "text": .string(
                    "{\"messageType\":\"SDP_OFFER\",\"senderClientId\":\"phone\",\"messagePayload\":\"\(payload)\"}"
                )
            ])
        for await case .sessionRequested(let peer) in events {
            #expect(peer.description == "phone")
            break
        }
        let channel = try master.channel(to: PeerID("phone"))
        for await message in channel.incoming {
            guard case .description(let description) = message else { continue }
            #expect(description.sdp == "v=0\r\n")
            break
        }
        await master.close()
        configuration.connectionLimit = .seconds(1)
        let brief = try Self.master(configuration)
        #expect(try sockets(5) >= 5)
        await brief.close()
    }

    @Test("A refused WebSocket is signed again, and a second refusal ends the service")
    func socketRefusals() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        try service.process.send("refuse", ["count": 1])
        #expect(try await Self.refusal(service.configuration()) == nil)
        try service.process.send("refuse", ["count": 2])
        let error = try await Self.refusal(service.configuration())
        #expect(error?.code == .authenticationFailed)
        #expect(error?.message.contains("(403)") == true)
    }
}
#endif
