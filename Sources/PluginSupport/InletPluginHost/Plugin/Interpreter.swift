import CInletPlugin
import Glibc
import InletSystem

// Unsafe: passes arguments to `execv`.
/// A plug-in that is a separate program, such as one in Python, and speaks the protocol itself.
///
/// Its sandbox is weaker than a library's. The process must be able to execute another program once, and the first time
/// cannot be distinguished from the second. So the plug-in may execute any program in the folders that it may read,
/// with the same rights. Other processes can trace it like any process of the user, because the kernel resets the
/// protection against tracing when a program starts. And nothing watches the connection while the program hangs.
enum Interpreter {
    /// Becomes the program, which finds the connection on descriptor 3.
    ///
    /// - Parameter words: the program, searched for in the system's folders if it has no slash, and its arguments.
    /// - Returns: why that has failed.
    static func run(_ words: [String]) -> PluginFailure {
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        let program = words.first ?? ""
        unsafe execvp(program, &arguments)
        let number = errno
        return PluginFailure(
            INLET_ERROR_PLUGIN,
            "The plug-in's program '\(program)' cannot be started: \(SystemErrorText.of(number)). Install it, or check "
                + "that the plug-in may read its folder.", nativeCode: number)
    }
}
