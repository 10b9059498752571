/// The exit codes of the process. After a message with the reason, Inlet uses only the message.
enum ExitCode {
    /// Inlet has closed the plug-in.
    static let closed: Int32 = 0
    /// A message to Inlet has the reason.
    static let failed: Int32 = 1
    /// The command line is wrong (EX_USAGE of sysexits.h).
    static let usage: Int32 = 64
    /// Inlet is gone, or sent a message that the protocol does not define (EX_PROTOCOL).
    static let gone: Int32 = 76
}
