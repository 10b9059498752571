import CInletPlugin
import CLinux
import Glibc
package import InletCore
import InletPluginIPC
import InletSystem
import Logging

// Unsafe: asks for the type of a descriptor.
/// The child of ``SourceProcessConfiguration``: runs one source and implements `inlet_plugin_protocol.h` for it.
package enum SourceServer {
    /// The first argument of the child.
    static let word = "source-process"
    /// The option with the most bytes of memory.
    static let memoryOption = "memory"

    /// The exit status of the process, besides 0 when Inlet has closed it.
    enum ExitCode {
        /// Inlet is gone, or sent a message that the protocol does not know.
        static let gone: Int32 = 76
        /// The process has exceeded its memory limit.
        static let memory: Int32 = 79
    }

    /// Serves a source and ends the process, if it was started for that; otherwise returns at once.
    ///
    /// Call this before anything else. A separate thread serves, so that no thread that runs the source's tasks waits.
    ///
    /// - Parameter registry: makes the registry with the sources that the executable has.
    package static func runIfAsked(_ registry: () -> PluginRegistry) async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, arguments[1] == word, isConnected else { return }
        Allocator.keepFlat()
        // Stopping a service often signals all of its processes. The daemon closes this one, and the guard ends it if
        // the daemon is gone.
        for number in [SIGTERM, SIGINT] { signal(number, SIG_IGN) }
        let channel = SourceServerChannel()
        LoggingSystem.bootstrap { _ in SourceLogHandler(channel: channel) }
        let registry = registry()
        do throws(InletError) {
            try SystemThread.start(named: "inlet-session") { SourceServerSession(channel, registry).run() }
        } catch {
            channel.answer(error)
            _exit(ExitCode.gone)
        }
        // The thread ends the process.
        while true { try? await Task.sleep(for: .seconds(86_400)) }
    }

    /// Whether the descriptor is a socket of messages, as in a child.
    private static var isConnected: Bool {
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(INLET_CHILD_SOCKET, SOL_SOCKET, SO_TYPE, &type, &length) == 0
            && type == Int32(SOCK_SEQPACKET.rawValue)
    }
}
