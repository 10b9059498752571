package import InletCore
package import InletRTC

/// A channel that can end before anything is sent on it, and says why.
package protocol ReasonedChannel: SignalingChannel {
    /// Why nothing more arrives; nil if that is as intended.
    var failure: InletError? { get }
}
