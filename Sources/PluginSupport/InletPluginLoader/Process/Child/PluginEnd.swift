import Glibc
import InletCore

/// The meaning of the end of a plug-in's process for its user.
struct PluginEnd {
    /// The code of the error. All but one are worth another attempt.
    let code: InletError.Code
    /// A description of the end: the rest of a sentence that begins with the plug-in's name.
    let text: String
    /// The advice for the user.
    let advice: String

    /// - Parameters:
    ///   - exit: how the process ended; nil if that is not known.
    ///   - wasAlive: whether it closed its connection, and had to be killed.
    ///   - isOwn: whether it ran a source of Inlet's own. The default is false.
    init(_ exit: PluginProcess.Exit?, wasAlive: Bool, isOwn: Bool = false) {
        let report =
            isOwn
            ? "It is restarted if the retry policy allows it."
            : "It is restarted if the retry policy allows it. Report this to its author."
        switch exit {
        case .status(SourceServer.ExitCode.memory) where isOwn && !wasAlive:
            (code, text, advice) = (
                .resourceExhausted, "used more memory than its limit, and was ended.",
                report + " If it needs that much, raise the limit."
            )
        case .signal(SIGKILL) where isOwn && !wasAlive:
            (code, text, advice) = (.disconnected, "was ended by SIGKILL.", report)
        case _ where wasAlive:
            (code, text, advice) = (.disconnected, "closed its connection to Inlet.", report)
        case .signal(SIGSYS):
            (code, text, advice) = (
                .permissionDenied, "called a system function that its manifest has no permission for, and was ended.",
                "Ask its author to request the permission, or to avoid the call."
            )
        case .signal(let number):
            (code, text, advice) = (.disconnected, "crashed: it was ended by \(Self.name(of: number)).", report)
        case .status(let number):
            (code, text, advice) = (
                .disconnected, "ended its process by itself, with the exit code \(number).", report
            )
        case .unknown, nil:
            (code, text, advice) = (.disconnected, "ended.", report)
        }
    }

    /// Returns the name of a signal, such as `SIGSEGV`.
    static func name(of signal: Int32) -> String { names[signal] ?? "signal \(signal)" }

    private static let names: [Int32: String] = [
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGHUP: "SIGHUP", SIGILL: "SIGILL", SIGINT: "SIGINT",
        SIGKILL: "SIGKILL", SIGPIPE: "SIGPIPE", SIGQUIT: "SIGQUIT", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS",
        SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGALRM: "SIGALRM",
        SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2",
    ]
}
