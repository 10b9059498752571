public import InletCore

/// The time-outs of calls, and the treatment of a second one.
public struct CallPolicy: Sendable, Hashable {
    /// The treatment of a call that comes while another runs.
    public enum SecondCall: Sendable, Hashable {
        /// The call is answered with busy, and with the time after which to try again, if any.
        case busy(retryAfter: Duration?)
        /// It rings as well, while at most this number wait. Answering it hangs up the first.
        case waiting(Int)
    }

    /// The time that a called peer may give no sign. The default is 10 seconds.
    public var reaching = Duration.seconds(10)
    /// The time that a call rings. The default is 30 seconds.
    public var ringing = Duration.seconds(30)
    /// The time from the answer to media. The default is 20 seconds.
    public var connecting = Duration.seconds(20)
    /// The additional time that the called peer waits in each step, because the caller decides. The default is 5
    /// seconds.
    public var patience = Duration.seconds(5)
    /// The time that the two may take to agree on an end. The default is 8 seconds.
    public var ending = Duration.seconds(8)
    /// The time that a peer may be away from signaling before media flows. The default is 5 seconds.
    public var absence = Duration.seconds(5)
    /// The treatment of a call that comes while another runs. The default is to be busy.
    public var secondCall = SecondCall.busy(retryAfter: nil)

    /// Creates a policy with the defaults.
    public init() {}

    /// Checks that the time-outs are above zero and no longer than a day, and that at most 16 calls may wait.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public func validate() throws(InletError) {
        let times = [
            ("reaching", reaching), ("ringing", ringing), ("connecting", connecting), ("patience", patience),
            ("ending", ending), ("absence", absence),
        ]
        for (name, time) in times where time <= .zero || time > .seconds(86_400) {
            throw InletError(
                .invalidConfiguration, "\(name): a time-out of a call is above zero and at most a day, not \(time).")
        }
        if case .waiting(let most) = secondCall, !(1...Self.mostWaiting).contains(most) {
            throw InletError(
                .invalidConfiguration, "secondCall: from 1 to \(Self.mostWaiting) calls may wait, not \(most).")
        }
    }

    private static let mostWaiting = 16
    /// The wait before a message is repeated for the first time; it doubles, up to ``longestRepeat``.
    static let firstRepeat = Duration.milliseconds(400)
    static let longestRepeat = Duration.seconds(2)
}
