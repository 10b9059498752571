extension FrameDispatcher {
    /// The outcome of an item's delivery.
    enum Result {
        case goOn
        /// The run is over; the frame was not delivered if the limit is one of time.
        case limit(EndReason)
        /// Another session has taken over.
        case notCurrent
    }
}
