#if GStreamer
import FoundationEssentials
import Inlet

/// The report of a call, for people and for machines. `call` and `ended` are the same on both sides.
struct CallReport: Encodable {
    /// How the call ended.
    struct End: Encodable, Equatable {
        var by: String
        var why: String
        var detail: String?
        var retryAfter: Int64?

        enum CodingKeys: String, CodingKey {
            case by, why, detail
            case retryAfter = "retry_after_s"
        }

        init(_ end: CallEnd) {
            (by, why) = ("\(end.by)", end.reason.key)
            detail = end.reason.detail?.sanitized()
            retryAfter = end.reason.retryAfter?.components.seconds
        }
    }

    var call: String
    var me: String
    var peer: String
    var isOutgoing: Bool
    /// The states before the end, in order.
    var states: [String]
    var ended: End?
    /// How long pictures flowed both ways.
    var connected: Double?
    /// The number of pictures passed to the encoder, and the number received.
    var sent, received: UInt64
    var error: RunReport.Failure?

    enum CodingKeys: String, CodingKey {
        case call, me, peer, states, ended, sent, received, error
        case isOutgoing = "outgoing"
        case connected = "connected_s"
    }

    /// The report as one line of JSON.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// The report as lines for a person.
    var text: String {
        var line = "call with \(peer): "
        if let ended {
            line += "\(ended.why) by \(ended.by)" + (ended.detail.map { " (\($0))" } ?? "")
            if let wait = ended.retryAfter { line += ", try again in \(wait) s" }
        } else {
            line += "not over"
        }
        if let connected { line += "; connected for \(connected.shortText) s, sent \(sent), received \(received)" }
        return line + (error.map { "\nerror: \($0.message)" } ?? "")
    }
}

extension ReportStyle {
    /// Writes the report of a call to standard error.
    func write(_ report: CallReport) {
        switch self {
        case .json: Terminal.writeError(((try? report.json) ?? "{}") + "\n")
        case .text: Terminal.writeError(report.text + "\n")
        case .none: if let error = report.error { Terminal.writeError("error: \(error.message)\n") }
        }
    }
}

extension ExitStatus {
    /// The exit status of a command for the end of its call.
    ///
    /// - Parameters:
    ///   - me: this side.
    ///   - isIntended: whether this side ended the call as requested, by declining it or reporting busy.
    init(_ end: CallEnd, me: PeerID, isIntended: Bool) {
        self =
            switch end.reason {
            case .hungUp: .success
            case .declined, .busy: Self.refusal(end, isIntended && end.by == me)
            case .cancelled: end.by == me ? .interrupted : .unavailable
            case .missed: .unavailable
            case .timedOut(.reaching): .noHost
            case .timedOut(.connecting): .temporary
            case .failed: .inputOutput
            }
    }

    private static func refusal(_ end: CallEnd, _ isIntended: Bool) -> ExitStatus {
        if isIntended { return .success }
        if case .busy = end.reason { return .temporary }
        return .noPermission
    }
}
#endif
