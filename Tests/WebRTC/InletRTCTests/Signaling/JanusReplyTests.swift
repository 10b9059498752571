import InletCore
import Testing

@testable import InletRTC

/// Messages of Janus, recorded in a session with version 1.1.2.
@Suite struct JanusReplyTests {
    @Test("Identifiers, acknowledgements and events are distinguished")
    func kinds() throws {
        let made = try JanusReply(
            json: #"{"janus":"success","transaction":"t","data":{"id":6138527402935466}}"#)
        guard case .success("6138527402935466"?) = made.kind else {
            Issue.record("\(made.kind)")
            return
        }
        #expect(made.transaction == "t" && made.error == nil && made.description == nil)
        guard case .ack = try JanusReply(json: #"{"janus":"ack","session_id":1,"transaction":"t"}"#).kind,
            case .over = try JanusReply(json: #"{"janus":"timeout","session_id":1}"#).kind,
            case .hangup("ICE failed") = try JanusReply(json: #"{"janus":"hangup","reason":"ICE failed"}"#).kind
        else {
            Issue.record("other kinds")
            return
        }
        let joined = try JanusReply(
            json: """
                {"janus":"event","session_id":1,"transaction":"t","sender":2,"plugindata":{"plugin":
                "janus.plugin.videoroom","data":{"videoroom":"attached","room":1234,"streams":[]}},
                "jsep":{"type":"offer","sdp":"v=0\\r\\n"}}
                """)
        #expect(joined.description?.kind == .offer && joined.description?.sdp == "v=0\r\n")
    }

    @Test("Participants are listed by number or by text; invalid entries are left out")
    func participants() throws {
        let reply = try JanusReply(
            json: """
                {"janus":"success","transaction":"t","sender":2,"plugindata":{"plugin":"janus.plugin.videoroom",
                "data":{"videoroom":"participants","room":1234,"participants":[{"id":7,"display":"door",
                "publisher":true,"talking":false},{"id":"x","publisher":false},{"display":"?"},3]}}}
                """)
        #expect(
            JanusParticipant.list(reply.data) == [
                JanusParticipant(id: "7", display: "door", isPublisher: true),
                JanusParticipant(id: "x", display: nil, isPublisher: false),
            ])
        #expect(JanusParticipant.list(nil).isEmpty)
    }

    @Test(
        "Each refusal has a clear error that suggests a remedy",
        arguments: [
            (426, InletError.Code.notFound, "room="), (428, .notFound, "feed="), (433, .authenticationFailed, "pin="),
            (436, .busy, "taken"), (432, .resourceExhausted, "as many"), (499, .serverUnavailable, "log"),
        ])
    func refusals(_ code: Int, _ kind: InletError.Code, _ word: String) throws {
        let error = try JanusReply(
            json: """
                {"janus":"event","transaction":"t","plugindata":{"plugin":"janus.plugin.videoroom",
                "data":{"videoroom":"event","error_code":\(code),"error":"No such\\u001b room"}}}
                """
        ).error
        #expect(error?.code == kind && error?.message.containsBytes(word) == true)
        #expect(error?.message.containsBytes("\u{1b}") == false)
    }

    @Test("A wrong API secret has a clear error")
    func coreErrors() throws {
        let error = try JanusReply(
            json: #"{"janus":"error","transaction":"t","error":{"code":403,"reason":"Unauthorized request"}}"#
        ).error
        #expect(error?.code == .authenticationFailed)
    }

    @Test(
        "Invalid messages are refused", arguments: ["", "{}", "[]", #"{"janus":1}"#, #"{"janus":"event","jsep":3}"#])
    func malformed(_ json: String) {
        #expect(throws: InletError.self) { try JanusReply(json: json) }
    }

    @Test("Digits are sent as a number, everything else as text")
    func identifiers() {
        for (text, json) in [
            ("1234", "1234"), ("0", "0"), ("012", #""012""#), ("a1", #""a1""#),
            ("12345678901234567890", #""12345678901234567890""#),
        ] {
            #expect(JanusRoom.identifier(text).json == json)
        }
    }
}
