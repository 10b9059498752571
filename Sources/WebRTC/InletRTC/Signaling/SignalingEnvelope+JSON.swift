public import InletCore

/// The JSON form, one object a message: `{"type":"offer","flow":"a-1","sdp":"...","from":"anna","to":"ben"}`.
///
/// | type | besides `from`, `to` and `instance`, which may be missing |
/// |---|---|
/// | `offer`, `answer` | `flow`, `sdp` |
/// | `candidate` | `flow`, `line` (empty at the end of the candidates), `section` (0 if it is missing) |
/// | `bye` | `flow`, which may be missing |
/// | `invite`, `ringing`, `accept`, `cancel`, `hangup` | `call` |
/// | `decline` | `call`, `reason`, which may be missing |
/// | `busy` | `call`, `retryAfter` in seconds, which may be missing |
/// | `ended` | `call`, `by`, `why`; `detail` and `retryAfter`, which may be missing |
/// | `tracks` | `call`, `number`, `tracks`: a list of `name` and `on` |
extension SignalingEnvelope {
    /// The maximum size of a message in bytes: enough for a description of ``longestDescription`` bytes and its
    /// escapes.
    public static let longest = 196_608
    /// The maximum size of a description in bytes.
    public static let longestDescription = 131_072
    /// The maximum length of a candidate's line in bytes.
    public static let longestCandidate = 2048
    /// The maximum length of a flow's name in bytes.
    public static let longestFlow = 256
    /// The maximum number of sections of a description, and the longest wait in seconds.
    static let (mostSections, longestWait) = (1024, 86_400)
    /// The largest whole number that JavaScript has.
    private static let mostNumber = 9_007_199_254_740_991

    /// Reads the JSON form, strictly by RFC 8259. Keys that a message of its type does not have are ignored.
    ///
    /// - Parameter json: the text, in UTF-8, at most ``longest`` bytes.
    /// - Throws: ``InletError/Code/malformedData`` if the text is not JSON, or a value is missing, of another type or
    ///   too long. The error quotes only names of keys.
    public init(json: [UInt8]) throws(InletError) {
        guard json.count <= Self.longest else { throw Self.error("it has more than \(Self.longest) bytes") }
        try self.init(JSONReader.read(json))
    }

    /// Reads the JSON form from a value.
    package init(_ value: JSONValue) throws(InletError) {
        let members = try SignalingMembers(value)
        let type = try members.required("type", upTo: 32)
        let content: Content
        switch type {
        case "offer", "answer":
            content = .session(
                .description(
                    SessionDescription(
                        kind: type == "offer" ? .offer : .answer,
                        sdp: try members.required("sdp", upTo: Self.longestDescription), flow: try members.flow())))
        case "candidate":
            content = .session(
                .candidate(
                    ICECandidate(
                        line: try members.required("line", upTo: Self.longestCandidate),
                        section: try members.integer("section", upTo: Self.mostSections) ?? 0,
                        flow: try members.flow())))
        case "bye": content = .session(.bye(try members.text("flow", upTo: Self.longestFlow).map { SignalingFlow($0) }))
        default: content = .call(CallMessage(try members.call(), try Self.callContent(type, members)))
        }
        self.init(
            from: try members.peer("from"), to: try members.peer("to"), instance: try members.instance(), content)
    }

    private static func callContent(
        _ type: String, _ members: SignalingMembers
    ) throws(InletError) -> CallMessage.Content {
        switch type {
        case "invite": .invite
        case "ringing": .ringing
        case "accept": .accept
        case "decline": .decline(reason: try members.text("reason", upTo: CallMessage.longestReason))
        case "busy":
            .busy(retryAfter: try members.integer("retryAfter", upTo: longestWait).map { .seconds($0) })
        case "cancel": .cancel
        case "hangup": .hangUp
        case "ended": .ended(try CallEnd(members))
        case "tracks": .tracks(try RoomTrack.list(members), number: try number(members))
        default: throw error("its type is not known")
        }
    }

    private static func number(_ members: SignalingMembers) throws(InletError) -> Int {
        guard let number = try members.integer("number", upTo: mostNumber) else { throw error("number is missing") }
        return number
    }

    static func error(_ what: String) -> InletError {
        InletError(.malformedData, "A message of signaling cannot be read: \(what).")
    }

    /// The JSON form, on one line.
    public var json: String { JSONValue(.object(members)).json }

    private var members: [JSONMember] {
        var members: [(String, String?)]
        switch content {
        case .session(.description(let description)):
            members = [
                ("type", description.kind.rawValue), ("flow", "\(description.flow)"), ("sdp", description.sdp),
            ]
        case .session(.candidate(let candidate)):
            members = [("type", "candidate"), ("flow", "\(candidate.flow)"), ("line", candidate.line)]
        case .session(.bye(let flow)): members = [("type", "bye"), ("flow", flow.map { "\($0)" })]
        case .call(let message):
            members = [("type", message.content.name), ("call", "\(message.call)")]
            if case .decline(let reason?) = message.content {
                members.append(("reason", reason.sanitized(limit: CallMessage.longestReason)))
            }
            if case .ended(let end) = message.content {
                members += [
                    ("by", "\(end.by)"), ("why", end.reason.key),
                    ("detail", end.reason.detail?.sanitized(limit: CallMessage.longestReason)),
                ]
            }
        }
        members += [
            ("from", from.map { "\($0)" }), ("to", to.map { "\($0)" }), ("instance", instance.map { "\($0)" }),
        ]
        var written = members.compactMap { key, text in
            text.map { JSONMember(key: key, value: JSONValue(.string($0))) }
        }
        switch content {
        case .session(.candidate(let candidate)):
            written.append(JSONMember(key: "section", value: JSONValue(.number("\(candidate.section)"))))
        case .call(let message):
            if case .tracks(let tracks, let number) = message.content {
                written.append(JSONMember(key: "number", value: JSONValue(.number("\(number)"))))
                written.append(JSONMember(key: "tracks", value: JSONValue(.array(tracks.map(\.json)))))
            }
            guard let wait = message.content.retryAfter else { break }
            // Rounded up, so that no peer comes back too early.
            let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
            let number = min(max(0, seconds), Int64(Self.longestWait))
            written.append(JSONMember(key: "retryAfter", value: JSONValue(.number("\(number)"))))
        default: break
        }
        return written
    }
}

extension CallMessage.Content {
    /// The type in the JSON form.
    fileprivate var name: String {
        switch self {
        case .invite: "invite"
        case .ringing: "ringing"
        case .accept: "accept"
        case .decline: "decline"
        case .busy: "busy"
        case .cancel: "cancel"
        case .hangUp: "hangup"
        case .ended: "ended"
        case .tracks: "tracks"
        }
    }

    /// The time of a retry, as the message states it.
    fileprivate var retryAfter: Duration? {
        switch self {
        case .busy(let wait): wait
        case .ended(let end): end.reason.retryAfter
        default: nil
        }
    }
}
