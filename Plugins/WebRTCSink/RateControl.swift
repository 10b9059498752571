#if WebRTC
    public import InletCore

    /// How a viewer's bit rate is determined.
    public enum RateControl: String, Sendable, Hashable, CaseIterable {
        /// By delay if the viewer reports on each packet, as browsers do, otherwise by loss.
        case automatic
        /// By what arrives, and how long it waits on the way.
        case delay
        /// By the fraction of packets that is lost, in steps.
        case loss
    }

    extension RateControl: ChoiceOptionValue {}
#endif
