/// The state of a call, as one side sees it.
public enum CallState: Sendable, Hashable {
    /// This side calls; there is no sign of the peer yet.
    case calling
    /// The called peer rings.
    case ringing
    /// The call was answered; media is being connected.
    case connecting
    /// Media flows both ways.
    case connected
    /// This side has ended the call, and asks the peer whether it had ended before.
    case ending
    /// The call has ended.
    case ended(CallEnd)
}

extension CallState: CustomStringConvertible {
    /// The state in one word, with the reason of an end.
    public var description: String {
        switch self {
        case .calling: "calling"
        case .ringing: "ringing"
        case .connecting: "connecting"
        case .connected: "connected"
        case .ending: "ending"
        case .ended(let end): "ended: \(end.reason) by \(end.by)"
        }
    }

    /// Whether the call still occupies its side.
    var isRunning: Bool {
        switch self {
        case .calling, .ringing, .connecting, .connected: true
        case .ending, .ended: false
        }
    }
}
