import InletCore
import Synchronization

/// Takes the frames that come from another thread while a session's own thread waits in ``FrameSource/next(_:)``.
///
/// The session lends its turn to others only while it has nothing to do itself: not for the first frame, not when it
/// must pause or report a frame, and not at all if the run has a limit, because the limit ends the session.
final class FrameHandOver: Sendable {
    private let id: CapturerStateMachine.SessionID
    private let dispatcher: FrameDispatcher
    // A lock instead of an atomic: the caller that revokes the turn has set a flag of the session before, and the
    // session checks its flags after it has lent the turn.
    private let isLent = Mutex(false)

    init(_ id: CapturerStateMachine.SessionID, _ dispatcher: FrameDispatcher) {
        self.id = id
        self.dispatcher = dispatcher
    }

    /// Lends the turn until ``revoke()``.
    func lend() { if !dispatcher.hasLimits { isLent.withLock { $0 = true } } }

    /// Ends the loan. A frame that is being delivered at that moment still is.
    func revoke() { isLent.withLock { $0 = false } }

    /// Delivers a frame, on any thread.
    ///
    /// - Returns: false if the session must deliver the frame.
    func take(_ frame: SourceFrame) -> Bool {
        isLent.withLock { $0 } && dispatcher.handOver(frame, from: id)
    }
}
