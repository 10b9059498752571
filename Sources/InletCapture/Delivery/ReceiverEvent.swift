import InletCore

/// What a receiver tells its capturer.
enum ReceiverEvent: Sendable {
    /// It takes no more frames. The last thing that it tells.
    case ended(InletError?)
    /// Its sink failed, and a new one will be made.
    case restarting(InletError, attempt: Int, delay: Duration)
}
