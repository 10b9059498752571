package import InletCore

/// A message of Janus over its WebSocket: the reply to a request, or an event.
package struct JanusReply: Sendable {
    /// The kind of a message.
    package enum Kind: Sendable {
        /// A request is done; the identifier of the created object, if it created one.
        case success(String?)
        /// A request is accepted; an event follows.
        case ack
        /// An event of the plug-in, or its answer.
        case event
        /// The connection of media has ended, for a reason.
        case hangup(String)
        /// The session or the handle no longer exists.
        case over
        /// A message that is not relevant here.
        case other
    }

    package let kind: Kind
    /// The request that it answers; nil for an unsolicited message.
    package let transaction: String?
    /// The data of the plug-in; nil without any.
    package let data: JSONValue?
    /// The description that comes with it.
    package let description: (kind: SessionDescription.Kind, sdp: String)?
    /// The reason why Janus or the plug-in refuses; nil if neither does.
    package let error: InletError?

    /// Reads a message.
    ///
    /// - Throws: ``InletError/Code/malformedData``.
    package init(json: String) throws(InletError) {
        let members = try SignalingMembers(try JSONReader.read(Array(json.utf8)))
        transaction = try members.text("transaction", upTo: 128)
        let plugin = try members.value("plugindata").map { value throws(InletError) in try SignalingMembers(value) }
        data = plugin?.value("data")
        var refusal: InletError?
        switch try members.required("janus", upTo: 64) {
        case "success":
            let made = try members.value("data").map { value throws(InletError) in try SignalingMembers(value) }
            kind = data == nil ? .success(made?.value("id").flatMap(Self.identifier)) : .event
        case "ack": kind = .ack
        case "event": kind = .event
        case "error":
            kind = .other
            let error = try members.value("error").map { value throws(InletError) in try SignalingMembers(value) }
            refusal = Self.coreError(
                try error?.integer("code", upTo: 9999) ?? 0, try error?.text("reason", upTo: 4096) ?? "no reason")
        case "hangup": kind = .hangup(try members.text("reason", upTo: 1024) ?? "")
        case "timeout", "detached": kind = .over
        default: kind = .other
        }
        if let data {
            let said = try SignalingMembers(data)
            if let code = try said.integer("error_code", upTo: 9999) {
                refusal = Self.roomError(code, try said.text("error", upTo: 4096) ?? "no reason")
            }
        }
        error = refusal
        guard let jsep = try members.value("jsep").map({ value throws(InletError) in try SignalingMembers(value) }),
            let type = SessionDescription.Kind(rawValue: try jsep.required("type", upTo: 16))
        else {
            description = nil
            return
        }
        description = (type, try jsep.required("sdp", upTo: SignalingEnvelope.longestDescription))
    }

    private static func identifier(_ value: JSONValue) -> String? { value.number ?? value.text }

    /// The errors of Janus itself (janus.h, JANUS_ERROR_...).
    private static func coreError(_ code: Int, _ reason: String) -> InletError {
        let (kind, advice): (InletError.Code, String) =
            switch code {
            case 403: (.authenticationFailed, "Give the token or the secret that its API requires.")
            case 458, 459: (.sessionLost, "A new session is created.")
            case 460: (.unsupported, "Janus has no VideoRoom: its plug-in is not loaded.")
            case 465: (.malformedData, "Janus does not accept the description.")
            default: (.serverUnavailable, "See Janus's log.")
            }
        return InletError(
            kind, "Janus refuses (\(code)): \(reason.sanitized(limit: 512)). \(advice)",
            context: .init(operation: "Janus", nativeCode: Int32(clamping: code)))
    }

    /// The errors of VideoRoom (janus_videoroom.c, JANUS_VIDEOROOM_ERROR_...).
    private static func roomError(_ code: Int, _ reason: String) -> InletError {
        let (kind, advice): (InletError.Code, String) =
            switch code {
            case 426: (.notFound, "There is no such room: check room=, or create it at the server.")
            case 428: (.notFound, "There is no such publisher in the room: check feed=.")
            case 430: (.invalidConfiguration, "Janus does not take the identifier of the room or of this side.")
            case 432: (.resourceExhausted, "The room has as many publishers as it may have.")
            case 429: (.authenticationFailed, "Something is missing, such as the PIN: give pin=.")
            case 433: (.authenticationFailed, "The PIN is wrong or missing: give pin=.")
            case 436: (.busy, "The id is taken, by another participant or an earlier session: choose another.")
            default: (.serverUnavailable, "See Janus's log.")
            }
        return InletError(
            kind, "Janus's VideoRoom refuses (\(code)): \(reason.sanitized(limit: 512)). \(advice)",
            context: .init(operation: "VideoRoom", nativeCode: Int32(clamping: code)))
    }
}
