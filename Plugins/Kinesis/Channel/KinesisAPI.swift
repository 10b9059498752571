import InletCore
import InletRTC

/// The Kinesis Video requests that signaling needs
/// (https://docs.aws.amazon.com/kinesisvideostreams/latest/dg/API_Reference.html). Safe from any thread.
struct KinesisAPI: Sendable {
    /// The addresses of a channel for a role.
    struct Endpoints: Sendable, Hashable {
        /// The address of the WebSocket, with `wss:` or `ws:`.
        var socket: String
        /// The address for other requests.
        var https: String
    }

    let configuration: KinesisConfiguration
    let region: String
    /// The address of the service, without a slash at the end.
    let endpoint: String
    /// Whether the address is AWS's own.
    let isAWS: Bool
    let credentials: AWSCredentialsCache
    let environment: AWSEnvironment

    static let service = "kinesisvideo"
    private static let attempts = 5
    private static let creationLimit = 20

    /// - Throws: ``InletError/Code/invalidConfiguration`` without a region.
    init(
        _ configuration: KinesisConfiguration, _ environment: AWSEnvironment, _ credentials: AWSCredentialsCache
    ) throws(InletError) {
        self.configuration = configuration
        self.environment = environment
        self.credentials = credentials
        let chain = AWSCredentialsChain(profile: configuration.profile, environment: environment)
        let ofARN = KinesisConfiguration.isARN(configuration.channel) ? try configuration.arn().region : nil
        var found = configuration.region ?? ofARN
        if found == nil { found = try chain.region() }
        guard let region = found else {
            throw InletError(
                .invalidConfiguration,
                "The region of the channel is unknown. Set region= or AWS_REGION, or name the channel by its ARN.")
        }
        try KinesisConfiguration.check(region: region)
        self.region = region
        let given =
            configuration.endpoint ?? environment.variable("AWS_ENDPOINT_URL_KINESIS_VIDEO")
            ?? environment.variable("AWS_ENDPOINT_URL")
        if let given {
            guard given.hasBytePrefix("https://") || given.hasBytePrefix("http://"), !given.contains(byte: "?"),
                given.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else {
                throw InletError(.invalidConfiguration, "The endpoint of Kinesis Video must be http(s)://HOST[:PORT].")
            }
            endpoint = given.hasByteSuffix("/") ? String(given.dropLast()) : given
        } else {
            endpoint =
                "https://kinesisvideo.\(region).amazonaws.com" + (region.hasBytePrefix("cn-") ? ".cn" : "")
        }
        isAWS = given == nil
    }

    /// Returns the ARN of the channel, which is created if it does not exist and the configuration allows that.
    func channelARN() async throws(InletError) -> String {
        let isARN = KinesisConfiguration.isARN(configuration.channel)
        let key = isARN ? "ChannelARN" : "ChannelName"
        var isCreated = false
        for attempt in 0..<Self.creationLimit {
            let answer: JSONValue
            do throws(InletError) {
                answer = try await ask("DescribeSignalingChannel", [key: configuration.channel])
            } catch {
                guard error.code == .notFound, configuration.creates, !isARN, !isCreated else { throw error }
                try await create()
                isCreated = true
                continue
            }
            let information = answer.member("ChannelInfo")
            guard let arn = information?.member("ChannelARN")?.text else { throw Self.malformed("ChannelARN") }
            let status = information?.member("ChannelStatus")?.text ?? "ACTIVE"
            if status.isSameBytes(as: "ACTIVE") || status.isSameBytes(as: "UPDATING") { return arn }
            guard status.isSameBytes(as: "CREATING") else {
                throw InletError(.notFound, "The channel '\(configuration.channel)' is being deleted.")
            }
            try await Self.pause(.milliseconds(Int64(200 << min(attempt, 4))))
        }
        throw InletError(.timedOut, "The channel '\(configuration.channel)' did not become active in time.")
    }

    private func create() async throws(InletError) {
        do throws(InletError) {
            let parameters = ["ChannelName": configuration.channel, "ChannelType": "SINGLE_MASTER"]
            _ = try await ask("CreateSignalingChannel", parameters)
        } catch {
            // Another program is creating it.
            guard error.code == .busy else { throw error }
        }
    }

    /// Returns the addresses of a channel for this side.
    func endpoints(of arn: String) async throws(InletError) -> Endpoints {
        let role = configuration.role == .master ? "MASTER" : "VIEWER"
        let answer = try await ask(
            "GetSignalingChannelEndpoint",
            [
                ("ChannelARN", JSONValue(.string(arn))),
                (
                    "SingleMasterChannelEndpointConfiguration",
                    JSONValue(
                        .object([
                            JSONMember(
                                key: "Protocols",
                                value: JSONValue(.array(["WSS", "HTTPS"].map { JSONValue(.string($0)) }))),
                            JSONMember(key: "Role", value: JSONValue(.string(role))),
                        ]))
                ),
            ])
        var found: [String: String] = [:]
        for item in answer.member("ResourceEndpointList")?.elements ?? [] {
            if let name = item.member("Protocol")?.text { found[name] = item.member("ResourceEndpoint")?.text }
        }
        guard let socket = found["WSS"], let https = found["HTTPS"] else { throw Self.malformed("ResourceEndpoint") }
        // An impostor must not redirect to another server by an address without TLS.
        guard !isAWS || (socket.hasBytePrefix("wss://") && https.hasBytePrefix("https://")) else {
            throw InletError(.addressRefused, "Kinesis Video returned an address without TLS for the channel.")
        }
        return Endpoints(socket: socket, https: https.hasByteSuffix("/") ? String(https.dropLast()) : https)
    }

    /// Returns the relays that AWS provides for a channel, and the time until they expire.
    func iceServers(_ endpoints: Endpoints, _ arn: String) async throws(InletError) -> (servers: [ICEServer], Duration)
    {
        var parameters = ["ChannelARN": arn, "Service": "TURN"]
        if case .viewer(let clientID) = configuration.role { parameters["ClientId"] = clientID }
        let answer = try await ask(
            "GetIceServerConfig", Self.fields(parameters), base: endpoints.https, path: "/v1/get-ice-server-config")
        var servers: [ICEServer] = []
        var lifetime = 3600
        for item in (answer.member("IceServerList")?.elements ?? []).prefix(8) {
            if let seconds = item.member("Ttl")?.number.flatMap({ Int($0) }) { lifetime = min(lifetime, seconds) }
            for uri in (item.member("Uris")?.elements ?? []).prefix(8) {
                // TURN over DTLS (turns: with transport=udp) is not supported and is left out.
                guard let text = uri.text,
                    let server = try? ICEServer(
                        text, user: item.member("Username")?.text, password: item.member("Password")?.text)
                else { continue }
                servers.append(server)
            }
        }
        return (servers, .seconds(max(30, lifetime)))
    }

    /// Returns the signed address of the WebSocket, which is valid for five minutes.
    func socketAddress(_ endpoints: Endpoints, _ arn: String) async throws(InletError) -> String {
        let parts = try Self.parts(endpoints.socket)
        var request = SigV4Signer.Request(method: "GET", host: parts.authority, path: parts.path)
        request.query = [.init("X-Amz-ChannelARN", arn)]
        if case .viewer(let clientID) = configuration.role { request.query.append(.init("X-Amz-ClientId", clientID)) }
        let signer = SigV4Signer(
            credentials: try await credentials.credentials(), region: region, service: Self.service)
        let target = signer.presign(request, lifetime: 299, at: AWSTime(seconds: environment.now()))
        return "\(parts.scheme)://\(parts.authority)\(target)"
    }

    // MARK: Requests

    private static func fields(_ parameters: [String: String]) -> [(String, JSONValue)] {
        parameters.sorted { $0.key < $1.key }.map { ($0.key, JSONValue(.string($0.value))) }
    }

    private func ask(_ operation: String, _ parameters: [String: String]) async throws(InletError) -> JSONValue {
        try await ask(operation, Self.fields(parameters))
    }

    /// Sends a request, and repeats it while the service is too busy.
    ///
    /// - Parameters:
    ///   - base: the address of the service; nil for the region's.
    ///   - path: the path; nil for the operation's.
    private func ask(
        _ operation: String, _ parameters: [(String, JSONValue)], base: String? = nil, path: String? = nil
    ) async throws(InletError) -> JSONValue {
        let base = base ?? endpoint
        let parts = try Self.parts(base)
        let path = path ?? "/\(operation.prefix(1).lowercasedASCII)\(operation.dropFirst())"
        let body = JSONValue(.object(parameters.map { JSONMember(key: $0.0, value: $0.1) })).json
        var isRenewed = false
        var attempt = 0
        while true {
            attempt += 1
            var request = SigV4Signer.Request(method: "POST", host: parts.authority, path: parts.path + path)
            if parts.path.hasByteSuffix("/") { request.path = parts.path + path.dropFirst() }
            request.headers = [.init("Content-Type", "application/json")]
            request.body = Array(body.utf8)
            let signer = SigV4Signer(
                credentials: try await credentials.credentials(), region: region, service: Self.service)
            let signed = signer.sign(request, at: AWSTime(seconds: environment.now()))
            let response = try await environment.http(
                AWSRequest(
                    method: "POST", url: "\(parts.scheme)://\(parts.authority)\(SigV4Signer.target(request))",
                    headers: request.headers + signed, body: body))
            if response.status == 200 {
                guard let value = try? JSONReader.read(Array(response.body.utf8)) else { throw Self.malformed("JSON") }
                return value
            }
            let failure = KinesisFailure(
                response, operation: operation, channel: configuration.channel, clock: environment.now())
            if failure.concernsCredentials, !isRenewed {
                // A role's credentials may have been renewed meanwhile.
                isRenewed = true
                let old = signer.credentials
                await credentials.forget()
                if try await credentials.credentials() != old { continue }
            }
            guard failure.mayPass, attempt < Self.attempts else { throw failure.error }
            let longest = Double((configuration.backOff / 5 * (1 << (attempt - 1))).wholeNanoseconds)
            try await Self.pause(.nanoseconds(Int64(Double.random(in: 0.5...1) * longest)))
        }
    }

    private static func pause(_ duration: Duration) async throws(InletError) {
        do {
            try await Task.sleep(for: duration)
        } catch {
            throw InletError(.cancelled, "A request to Kinesis Video was cancelled.")
        }
    }

    private static func malformed(_ what: String) -> InletError {
        InletError(.malformedData, "A response of Kinesis Video lacks \(what). Check the endpoint.")
    }

    /// Returns the scheme, the host with its port, and the path of an address.
    private static func parts(_ address: String) throws(InletError) -> (scheme: String, authority: String, path: String)
    {
        guard let colon = address.firstRange(ofBytes: "://") else {
            throw InletError(.malformedData, "Kinesis Video returned an address without a scheme.")
        }
        let rest = address[colon.upperBound...].prefix(upToByte: "?")
        let authority = rest.prefix(upToByte: "/")
        guard !authority.isEmpty, !authority.contains(byte: "@"),
            address.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw InletError(.malformedData, "Kinesis Video returned an address without a host.")
        }
        let path = String(rest[authority.endIndex...])
        return (String(address[..<colon.lowerBound]), String(authority), path.isEmpty ? "/" : path)
    }
}

extension JSONValue {
    /// Returns a member of an object.
    func member(_ name: String) -> JSONValue? { members?.first { $0.key.isSameBytes(as: name) }?.value }
}
