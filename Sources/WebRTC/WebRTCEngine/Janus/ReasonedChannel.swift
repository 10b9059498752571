package import InletCore
package import InletRTC

/// A channel that can end before any message is sent on it, with a reason.
package protocol ReasonedChannel: SignalingChannel {
    /// The reason why no more messages arrive; nil if that is as intended.
    var failure: InletError? { get }
}
