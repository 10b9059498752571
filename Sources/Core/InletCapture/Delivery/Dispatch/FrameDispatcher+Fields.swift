import InletCore
import Synchronization

/// The picture that waits for the next one.
extension FrameDispatcher {
    /// Offers the picture that waits for the next one of its session: none follows soon. Blocks as `deliver` does.
    func deliverHeldPicture(from session: SessionID, isCancelled: () -> Bool) {
        let held = state.withLock { state -> FieldHold.Offering? in
            guard state.session == session, session > state.givenUp, let held = state.fields.end() else { return nil }
            offering.store(session, ordering: .relaxed)
            return held
        }
        guard let held else { return }
        offer(held, isCancelled: isCancelled)
        endOffering(of: session)
    }

    func offer(_ offering: FieldHold.Offering, isCancelled: () -> Bool) {
        for receiver in offering.receivers { receiver.offer(offering.frame, isCancelled: isCancelled) }
    }

    /// Records that a session has offered its items. Nothing must be undone if another one has begun to offer.
    func endOffering(of session: SessionID) {
        _ = offering.compareExchange(expected: session, desired: Self.nobody, ordering: .releasing)
    }
}
