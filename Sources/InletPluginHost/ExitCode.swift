/// How the process ends. After a message that says why, Inlet looks at the message alone.
enum ExitCode {
    /// Inlet has closed the plug-in.
    static let closed: Int32 = 0
    /// A message to Inlet says why.
    static let failed: Int32 = 1
    /// The command line is wrong (EX_USAGE of sysexits.h).
    static let usage: Int32 = 64
    /// Inlet is gone, or says what the protocol does not know (EX_PROTOCOL).
    static let gone: Int32 = 76
}
