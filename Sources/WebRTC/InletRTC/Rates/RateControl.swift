public import InletCore

/// The controller that determines the bit rate for a peer.
public enum RateControl: String, Sendable, Hashable, CaseIterable {
    /// By delay if the peer reports on each packet, as browsers do, otherwise by loss, in steps.
    case automatic
    /// By the received rate and the waiting time of packets on the way; only by loss for a peer that does not report on
    /// each packet.
    case delay
    /// By the fraction of lost packets, in steps: ``LossStepper``.
    case loss
}

extension RateControl: ChoiceOptionValue {}
