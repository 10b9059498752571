import InletCore

/// An event that a receiver reports to its capturer.
enum ReceiverEvent: Sendable {
    /// It takes no more frames. This is its last event.
    case ended(InletError?)
    /// Its sink failed, and a new one will be made.
    case restarting(InletError, attempt: Int, delay: Duration)
}
