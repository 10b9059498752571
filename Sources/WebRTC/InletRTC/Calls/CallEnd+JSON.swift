import InletCore

extension CallEnd.Reason {
    /// The name in the JSON form of messages and reports.
    public var key: String {
        switch self {
        case .declined: "declined"
        case .missed: "missed"
        case .busy: "busy"
        case .cancelled: "cancelled"
        case .hungUp: "hungUp"
        case .failed: "failed"
        case .timedOut: "timedOut"
        }
    }

    /// The words, or the step, that belong to the reason; nil if it has none.
    public var detail: String? {
        switch self {
        case .declined(let text): text
        case .failed(let text): text
        case .timedOut(let step): step.rawValue
        case .missed, .busy, .cancelled, .hungUp: nil
        }
    }

    /// The time after which another call may succeed; nil if it is unknown.
    public var retryAfter: Duration? { if case .busy(let wait) = self { wait } else { nil } }
}

extension CallEnd {
    /// The end with its texts as messages carry them, so that both sides have the same.
    var bounded: CallEnd {
        func cut(_ text: String) -> String { text.sanitized(limit: CallMessage.longestReason) }
        return switch reason {
        case .declined(let text?): CallEnd(by: by, .declined(cut(text)))
        case .failed(let text): CallEnd(by: by, .failed(cut(text)))
        case .declined(nil), .missed, .busy, .cancelled, .hungUp, .timedOut: self
        }
    }

    /// Reads the members of a message of the type `ended`.
    init(_ members: SignalingMembers) throws(InletError) {
        let name = try members.required("by", upTo: PeerID.longest)
        guard let peer = try? PeerID(name) else { throw SignalingEnvelope.error("by is no name of a peer") }
        let detail = try members.text("detail", upTo: CallMessage.longestReason)
        let why = try members.required("why", upTo: 32)
        let reason: Reason
        switch why {
        case "declined": reason = .declined(detail)
        case "missed": reason = .missed
        case "busy":
            let wait = try members.integer("retryAfter", upTo: SignalingEnvelope.longestWait)
            reason = .busy(retryAfter: wait.map { .seconds($0) })
        case "cancelled": reason = .cancelled
        case "hungUp": reason = .hungUp
        case "failed": reason = .failed(detail ?? "")
        case "timedOut":
            guard let step = detail.flatMap(Step.init) else { throw SignalingEnvelope.error("detail names no step") }
            reason = .timedOut(step)
        default: throw SignalingEnvelope.error("why is not known")
        }
        self.init(by: peer, reason)
    }
}
