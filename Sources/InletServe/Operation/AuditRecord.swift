import InletCore

/// A change that was asked for: by whom, what, and how it ended. A value without I/O; it holds no secret.
struct AuditRecord: Sendable {
    /// Who asked.
    enum Actor: Sendable, Equatable {
        /// A client of the API: the name of its token, nil if it presented none, and its address.
        case client(token: String?, address: String)
        /// The configuration's file, which has changed.
        case file
        /// SIGHUP.
        case signal
    }

    /// How it ended.
    enum Outcome: Sendable, Equatable {
        case done
        /// Nothing was done but to say what would be.
        case dryRun
        /// Nothing was done; the status of the answer.
        case refused(Int)

        /// Reads the status of an answer.
        init(status: Int, isTrial: Bool) {
            self = status >= 300 ? .refused(status) : isTrial ? .dryRun : .done
        }
    }

    var actor: Actor
    /// What was asked for, such as `pause`.
    var action: String
    /// The name of the camera; nil if it concerns all.
    var camera: String?
    var outcome: Outcome

    /// Returns the record as one line of JSON without its end.
    ///
    /// - Parameters:
    ///   - time: when it ended (RFC 3339).
    ///   - lost: how many records before it could not be written.
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

    /// Returns a camera's name; what is none may be the address of a camera, with a password.
    private static func shown(_ name: String) -> String {
        CameraName.isValid(name) ? name : Redaction.redact(uri: name).sanitized(limit: 80)
    }

    /// A token may be called `file`: this says what it is.
    private var origin: String {
        switch actor {
        case .client: "api"
        case .file: "file"
        case .signal: "signal"
        }
    }
}
