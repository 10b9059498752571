import InletCore
import InletRTC
import Testing

@testable import RoomsPlugin

/// The messages of a server, and the addresses of rooms.
@Suite struct RoomMessageTests {
    @Test("A refusal is read as it was written, and an unknown one of a later server has the reason other")
    func refusals() throws {
        for reason in RoomRefusal.Reason.allCases {
            let refusal = RoomRefusal(reason: reason, text: "so", retryAfter: reason == .full ? .seconds(5) : nil)
            guard case .refused(let read) = try RoomMessage(json: RoomMessage.refused(refusal).json) else {
                Issue.record("\(reason)")
                continue
            }
            #expect(read == refusal && refusal.error.retryAfter == refusal.retryAfter)
        }
        guard case .refused(let read) = try RoomMessage(json: #"{"type":"refused","reason":"weather"}"#) else {
            Issue.record("no refusal")
            return
        }
        #expect(read.reason == .other && read.text == "weather" && !read.isTemporary)
    }

    @Test(
        "Messages that no server sends are refused",
        arguments: [
            "", "{}", #"{"type":"welcome"}"#, #"{"type":"joined","peer":"a"}"#, #"{"type":"left","instance":"a"}"#,
            #"{"type":"welcome","peer":"a","peers":[{"peer":"b"}]}"#, #"{"type":"refused"}"#,
        ])
    func malformed(_ json: String) {
        let error = #expect(throws: InletError.self) { try RoomMessage(json: json) }
        #expect(error?.code == .malformedData)
    }

    @Test("The servers for sessions are read as they were written, and invalid entries are skipped")
    func servers() throws {
        let servers = [
            try ICEServer("stun:s"), try ICEServer("turns:h:443", user: "u", password: "p\"q"),
            try ICEServer("turn:[::1]:9?transport=tcp", user: "u", password: "p"),
        ]
        let welcome = RoomMessage.welcome(try PeerID("ann"), others: [], servers: servers)
        guard case .welcome(_, _, let first) = try RoomMessage(json: welcome.json),
            case .servers(let later) = try RoomMessage(json: RoomMessage.servers(servers).json)
        else {
            Issue.record("\(welcome.json)")
            return
        }
        #expect(first == servers && later == servers)
        let mixed =
            #"{"type":"iceServers","iceServers":[{"urls":["turn:h?transport=dtls","stun:a"]},7,"#
            + #"{"urls":"turn:h","username":"u","credential":"p"},{"urls":"turn:k"},{"urls":{}},{"username":"u"}]}"#
        guard case .servers(let read) = try RoomMessage(json: mixed) else {
            Issue.record("no servers")
            return
        }
        #expect(read.map(\.uri) == ["stun:a:3478", "turn:h:3478"])
        let many = Array(repeating: #"{"urls":["stun:a","stun:b"]}"#, count: 50).joined(separator: ",")
        guard case .servers(let few) = try RoomMessage(json: #"{"type":"iceServers","iceServers":[\#(many)]}"#) else {
            Issue.record("no servers")
            return
        }
        #expect(few.count == RoomMessage.mostServers)
    }

    @Test("The address of a room has the name and the token in its query, which errors do not quote")
    func addresses() throws {
        let room = try WebSocketSignalingConfiguration("ws://127.0.0.1:8443/studio?id=a%2Bb&token=secret-token")
        #expect(room.address == "ws://127.0.0.1:8443/studio" && room.id.description == "a+b")
        #expect(room.token == "secret-token")
        #expect(try WebSocketSignalingConfiguration("wss://host/r", id: PeerID("x")).id.description == "x")
        for address in [
            "http://host/r", "ws://host", "ws://host/", "ws://host/a/b", "ws://host/r?id=",
            "ws://host/r?name=x&token=secret",
            "ws://host/r?id=a%20b&token=secret",
        ] {
            let error = #expect(throws: InletError.self) { try WebSocketSignalingConfiguration(address) }
            #expect(error?.code == .invalidConfiguration && error?.message.containsBytes("secret") == false)
        }
    }
}
