package import InletCore
package import InletRTC
import InletTLS
import InletWebSocket
import Synchronization

/// A session with Janus over a WebSocket, and its one handle of VideoRoom. Safe from any thread.
///
/// It is kept alive until it is closed. Every request has a deadline.
package final class JanusConnection: Sendable {
    /// An unsolicited message of Janus.
    package enum Event: Sendable {
        case said(JanusReply)
        /// The connection has ended.
        case ended(InletError)
    }

    private struct State {
        var waiting: [String: AsyncStream<Result<JanusReply, InletError>>.Continuation] = [:]
        var session: String?
        var handle: String?
        var end: InletError?
        var tasks: [Task<Void, Never>] = []
    }

    private let room: JanusRoom
    private let client: WebSocketClient
    private let state = Mutex(State())
    private let tell: @Sendable (Event) -> Void
    private static let limit = Duration.seconds(8)
    /// Less than half of Janus's default of a minute, after which a silent session ends.
    private static let keepAlive = Duration.seconds(25)
    private static let plugin = "janus.plugin.videoroom"

    private init(_ room: JanusRoom, _ client: WebSocketClient, tell: @escaping @Sendable (Event) -> Void) {
        (self.room, self.client, self.tell) = (room, client, tell)
    }

    deinit { for task in state.withLock({ $0.tasks }) { task.cancel() } }

    /// Checks a room and its address.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    package static func validate(_ room: JanusRoom) throws(InletError) {
        _ = try WebSocketAddress(room.address)
        try room.validate()
    }

    /// Connects, and attaches to VideoRoom.
    ///
    /// - Throws: ``InletError`` with the reason from the WebSocket client or Janus, in words.
    package static func open(
        _ room: JanusRoom, tell: @escaping @Sendable (Event) -> Void
    ) async throws(InletError) -> JanusConnection {
        try room.validate()
        var configuration = WebSocketConfiguration(address: try WebSocketAddress(room.address))
        configuration.subprotocols = ["janus-protocol"]
        configuration.tls.authorities = room.authorities
        configuration.tls.purpose = "janus+wss:"
        let connection = JanusConnection(room, try await WebSocketClient.connect(configuration), tell: tell)
        connection.start()
        do throws(InletError) {
            let session = try await connection.request("create", [])
            guard case .success(let id?) = session.kind else { throw malformed }
            connection.state.withLock { $0.session = id }
            let handle = try await connection.request("attach", [text("plugin", plugin)])
            guard case .success(let id?) = handle.kind else { throw malformed }
            connection.state.withLock { $0.handle = id }
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    private static let malformed = InletError(.malformedData, "Janus's answer has no identifier. Check the address.")

    private static func text(_ key: String, _ text: String) -> JSONMember {
        JSONMember(key: key, value: JSONValue(.string(text)))
    }

    /// Sends a request to VideoRoom, and waits for its answer.
    ///
    /// - Parameters:
    ///   - body: the members besides `request` and `room`.
    ///   - description: the description that goes with it.
    /// - Throws: ``InletError`` if it is refused, or not answered in time.
    package func ask(
        _ request: String, _ body: [JSONMember] = [], _ description: SessionDescription? = nil
    ) async throws(InletError) -> JanusReply {
        var members = [
            Self.text("request", request), JSONMember(key: "room", value: JanusRoom.identifier(room.room)),
        ]
        if let pin = room.pin { members.append(Self.text("pin", pin)) }
        var message = [JSONMember(key: "body", value: JSONValue(.object(members + body)))]
        if let description {
            let jsep = [Self.text("type", description.kind.rawValue), Self.text("sdp", description.sdp)]
            message.append(JSONMember(key: "jsep", value: JSONValue(.object(jsep))))
        }
        return try await self.request("message", message)
    }

    /// Sends a candidate of this side, without waiting for an answer.
    package func trickle(_ candidate: ICECandidate) async throws(InletError) {
        let members =
            candidate.line.isEmpty
            ? [JSONMember(key: "completed", value: JSONValue(.boolean(true)))]
            : [
                Self.text("candidate", candidate.line),
                JSONMember(key: "sdpMLineIndex", value: JSONValue(.number("\(candidate.section)"))),
            ]
        let value = [JSONMember(key: "candidate", value: JSONValue(.object(members)))]
        try await client.send(.text(text("trickle", value, RandomName.make())))
    }

    /// Ends the session and the connection. Takes some seconds at most.
    package func close() async {
        if state.withLock({ $0.session != nil && $0.end == nil }) {
            try? await client.send(.text(text("destroy", [], RandomName.make())))
        }
        let tasks = state.withLock { state in
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
        await client.close()
        end(InletError(.cancelled, "The session with Janus was ended by this side."), isTold: false)
    }

    private func start() {
        let client = client
        let receiving = Task { [weak self] in
            do throws(InletError) {
                while let message = try await client.next() {
                    guard case .text(let text) = message else { continue }
                    // An unreadable message may be of a later version: a request then has its deadline.
                    if let reply = try? JanusReply(json: text) { self?.take(reply) }
                }
                self?.end(InletError(.disconnected, "Janus has ended the connection. It is made again."))
            } catch { self?.end(error) }
        }
        let living = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.keepAlive)
                guard let self, !Task.isCancelled else { return }
                try? await client.send(.text(text("keepalive", [], RandomName.make())))
            }
        }
        state.withLock { $0.tasks = [receiving, living] }
    }

    private func take(_ reply: JanusReply) {
        if let waiting = reply.transaction.flatMap({ name in state.withLock { $0.waiting[name] } }) {
            waiting.yield(.success(reply))
        } else {
            tell(.said(reply))
        }
    }

    private func end(_ error: InletError, isTold: Bool = true) {
        let waiting = state.withLock { state in
            let isFirst = state.end == nil
            state.end = state.end ?? error
            defer { state.waiting = [:] }
            return isFirst ? Array(state.waiting.values) : nil
        }
        guard let waiting else { return }
        for one in waiting { one.yield(.failure(error)) }
        if isTold { tell(.ended(error)) }
    }

    private func request(_ kind: String, _ members: [JSONMember]) async throws(InletError) -> JanusReply {
        let name = RandomName.make()
        let (replies, reply) = AsyncStream.makeStream(of: Result<JanusReply, InletError>.self)
        try state.withLock { state throws(InletError) in
            if let end = state.end { throw end }
            state.waiting[name] = reply
        }
        let late = Task {
            try? await Task.sleep(for: Self.limit)
            reply.yield(.failure(InletError(.timedOut, "Janus did not answer '\(kind)' within \(Self.limit).")))
        }
        defer {
            late.cancel()
            _ = state.withLock { $0.waiting.removeValue(forKey: name) }
        }
        try await client.send(.text(text(kind, members, name)))
        for await result in replies {
            let answer = try result.get()
            if let error = answer.error { throw error }
            // A request accepted for later is answered by an event.
            if case .ack = answer.kind { continue }
            return answer
        }
        throw InletError(.cancelled, "A request to Janus was cancelled.")
    }

    private func text(_ kind: String, _ members: [JSONMember], _ transaction: String) -> String {
        let (session, handle) = state.withLock { ($0.session, $0.handle) }
        var all = [Self.text("janus", kind), Self.text("transaction", transaction)]
        if let session { all.append(JSONMember(key: "session_id", value: JanusRoom.identifier(session))) }
        let isOfHandle = kind.isSameBytes(as: "message") || kind.isSameBytes(as: "trickle")
        if isOfHandle, let handle { all.append(JSONMember(key: "handle_id", value: JanusRoom.identifier(handle))) }
        if let token = room.token { all.append(Self.text("token", token)) }
        if let secret = room.apiSecret { all.append(Self.text("apisecret", secret)) }
        return JSONValue(.object(all + members)).json
    }
}
