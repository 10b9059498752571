import Foundation
import InletCore
import InletRTC

/// A message of a signaling channel's WebSocket
/// (https://docs.aws.amazon.com/kinesisvideostreams-webrtc-dg/latest/devguide/kvswebrtc-websocket-apis.html).
enum KinesisMessage: Sendable, Hashable {
    case offer(sdp: String)
    case answer(sdp: String)
    case candidate(line: String, section: Int)
    /// The service is about to end the connection, so a new one is needed.
    case goAway
    /// The relays must be requested again.
    case reconnectICEServer
    /// A message did not reach its peer.
    case status(code: String, kind: String, description: String)

    /// The maximum number of bytes in a payload. AWS allows messages of 10,000 characters, other services allow more.
    static let longestPayload = 131_072

    /// Parses a message.
    ///
    /// - Returns: the message and its sender (nil for the master); nil for an unknown or malformed text.
    static func read(_ text: String) -> (message: KinesisMessage, sender: String?)? {
        guard text.utf8.count <= longestPayload * 2, let value = try? JSONReader.read(Array(text.utf8)),
            let kind = value.member("messageType")?.text ?? value.member("action")?.text
        else { return nil }
        let sender = value.member("senderClientId")?.text.flatMap { $0.isEmpty ? nil : $0 }
        func payload() -> JSONValue? {
            guard let text = value.member("messagePayload")?.text, text.utf8.count <= longestPayload,
                let data = Data(base64Encoded: text)
            else { return nil }
            return try? JSONReader.read(Array(data))
        }
        switch kind.uppercasedASCII {
        case "SDP_OFFER": return payload()?.member("sdp")?.text.map { (.offer(sdp: $0), sender) }
        case "SDP_ANSWER": return payload()?.member("sdp")?.text.map { (.answer(sdp: $0), sender) }
        case "ICE_CANDIDATE":
            guard let payload = payload(), let line = payload.member("candidate")?.text else { return nil }
            let section = payload.member("sdpMLineIndex")?.number.flatMap { Int($0) } ?? 0
            return (.candidate(line: line, section: max(0, min(section, 255))), sender)
        case "GO_AWAY": return (.goAway, sender)
        case "RECONNECT_ICE_SERVER": return (.reconnectICEServer, sender)
        case "STATUS_RESPONSE":
            let status = value.member("statusResponse")
            func text(_ name: String) -> String { status?.member(name)?.text ?? "" }
            return (
                .status(code: text("statusCode"), kind: text("errorType"), description: text("description")), sender
            )
        default: return nil
        }
    }

    /// Returns the text that sends a message of a session; nil for a goodbye, for which the service has no message.
    ///
    /// - Parameter recipient: the viewer; nil for the master.
    static func text(_ message: SignalingMessage, to recipient: String?) -> String? {
        let (action, payload): (String, [(String, JSONValue.Content)])
        var correlation: String?
        switch message {
        case .description(let description):
            action = description.kind == .offer ? "SDP_OFFER" : "SDP_ANSWER"
            payload = [("type", .string(description.kind.rawValue)), ("sdp", .string(description.sdp))]
            correlation = description.flow.description
        case .candidate(let candidate):
            action = "ICE_CANDIDATE"
            payload = [
                ("candidate", .string(candidate.line)), ("sdpMid", .string("\(candidate.section)")),
                ("sdpMLineIndex", .number("\(candidate.section)")),
            ]
        case .bye: return nil
        }
        let json = object(payload)
        var members: [(String, JSONValue.Content)] = [
            ("action", .string(action)), ("messagePayload", .string(Data(json.utf8).base64EncodedString())),
        ]
        if let recipient { members.append(("recipientClientId", .string(recipient))) }
        if let correlation, KinesisConfiguration.isName(correlation) {
            members.append(("correlationId", .string(correlation)))
        }
        return object(members)
    }

    private static func object(_ members: [(String, JSONValue.Content)]) -> String {
        JSONValue(.object(members.map { JSONMember(key: $0.0, value: JSONValue($0.1)) })).json
    }
}
