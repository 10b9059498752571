import InletCore

/// The phase of a capturer. Values that are valid in only one phase are stored in it.
extension CapturerStateMachine {
    enum Phase {
        /// Not started. A stop before the start is kept until then.
        case idle(stop: EndReason?)
        /// The source is being opened, or is open.
        case open(Session)
        /// Paused, or unwatched, with the source closed.
        case closedForPause
        /// The session was cancelled, or has ended; it is lost if it has not closed by then.
        case closing(Session, next: Next, by: MonotonicTime)
        case waiting(until: MonotonicTime, delay: Duration)
        case ended(EndReason?)
    }

    /// A single opening of the source.
    struct Session {
        let id: SessionID
        var stage = Stage.opening
        /// The format, known once the source is open.
        var format: SourceFormat?
        /// Whether frames have arrived.
        var wasLive = false
        /// The reason why the source has lost its device for a while, if it reports that.
        var interruption: String?
    }

    /// The progress of a session.
    enum Stage {
        case opening
        /// Open; no frame since the opening or the end of a pause.
        case awaitingFrame
        /// Frames arrive: since then, unless an interruption has ended the stretch.
        case live(healthySince: MonotonicTime?)
        case stalled
        /// Asked to pause, but not yet paused.
        case pausing
        case paused
    }

    /// The step after a session has closed.
    enum Next {
        case fail(InletError)
        case rest
        case reopen
        case finish(Result<EndReason, InletError>)
    }

    /// A time without frames that the application wants.
    struct Outage {
        var start: MonotonicTime
        /// Whether something went wrong, as opposed to a first opening or the end of a pause.
        var isTrouble: Bool
    }

    /// The session whose thread is expected to do something. Setting it changes that session; it cannot start or end
    /// one.
    var session: Session? {
        get {
            switch phase {
            case .open(let session), .closing(let session, _, _): session
            case .idle, .closedForPause, .waiting, .ended: nil
            }
        }
        set {
            guard let newValue else { return }
            switch phase {
            case .open: phase = .open(newValue)
            case .closing(_, let next, let by): phase = .closing(newValue, next: next, by: by)
            case .idle, .closedForPause, .waiting, .ended: break
            }
        }
    }

    /// Returns the session of that number, if it is opening or open, and not closing.
    func open(_ id: SessionID) -> Session? {
        if case .open(let session) = phase, session.id == id { session } else { nil }
    }
}
