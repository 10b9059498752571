import InletCore

/// A requested change: the actor, the action and the outcome. A value without I/O. It contains no secret.
struct AuditRecord: Sendable {
    /// The actor of a change.
    enum Actor: Sendable, Equatable {
        /// A client of the API: the name of its token (nil without a token), and its address.
        case client(token: String?, address: String)
        /// A change of the configuration's file.
        case file
        /// The signal SIGHUP.
        case signal
    }

    /// The outcome of a change.
    enum Outcome: Sendable, Equatable {
        case done
        /// A dry run: the changes were only listed.
        case dryRun
        /// Nothing was changed. The value is the response's status.
        case refused(Int)

        /// Makes the outcome from a response's status.
        init(status: Int, isTrial: Bool) {
            self = status >= 300 ? .refused(status) : isTrial ? .dryRun : .done
        }
    }

    var actor: Actor
    /// The requested action, such as `pause`.
    var action: String
    /// The name of the camera; nil if the change concerns all cameras.
    var camera: String?
    var outcome: Outcome

    /// Returns the record as one line of JSON, without a line end.
    ///
    /// - Parameters:
    ///   - time: when the change ended (RFC 3339).
    ///   - lost: how many earlier records could not be written.
    func line(time: String, lost: Int = 0) -> String {
        var members: [(String, JSONValue)] = [("time", .text(time))]
        switch actor {
        case .client(let token, let address):
            members += [("who", .text(token ?? "anonymous")), ("client", .text(address))]
        case .file: members.append(("who", .text("file")))
        case .signal: members.append(("who", .text("signal")))
        }
        members += [
            ("by", .text(origin)), ("action", .text(action)),
            ("camera", camera.map { .text(Self.shown($0)) } ?? .null),
        ]
        switch outcome {
        case .done: members.append(("outcome", .text("done")))
        case .dryRun: members.append(("outcome", .text("dry run")))
        case .refused(let code): members += [("outcome", .text("refused")), ("code", .number(code))]
        }
        if lost > 0 { members.append(("lost", .number(lost))) }
        return JSONValue.object(members).text()
    }

    /// Returns a camera's name. Other texts are redacted, because they may be a camera's URI with a password.
    private static func shown(_ name: String) -> String {
        CameraName.isValid(name) ? name : Redaction.redact(uri: name).sanitized(limit: 80)
    }

    /// The kind of actor. It is recorded because a token may have a name such as `file`.
    private var origin: String {
        switch actor {
        case .client: "api"
        case .file: "file"
        case .signal: "signal"
        }
    }
}
