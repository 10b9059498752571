#if WebRTC
    public import InletCore

    /// By what the bit rate of a viewer is found.
    public enum RateControl: String, Sendable, Hashable, CaseIterable {
        /// By delay where the viewer reports on each packet, as browsers do, otherwise by loss.
        case automatic
        /// By what arrives, and how long it waits on the way.
        case delay
        /// By the part of packets that is lost, in steps.
        case loss
    }

    extension RateControl: ChoiceOptionValue {}
#endif
