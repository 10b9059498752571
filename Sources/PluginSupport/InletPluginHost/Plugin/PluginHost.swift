import Glibc
import InletCore
import InletPluginIPC

// Unsafe: resets signals and writes to descriptors.
/// The program that loads a plug-in which Inlet does not come with, closes it off, and speaks for it with Inlet.
@main enum PluginHost {
    private static let usage = """
        Usage: inlet-plugin-host [OPTION]... --library PATH
               inlet-plugin-host [OPTION]... --command PROGRAM [ARGUMENT]...

        Runs a plug-in of inlet in a separate process, closed off from everything that it has no permission for.
        inlet starts this program, with a connection on descriptor 3; on its own it does nothing.

          --network        the plug-in may use the network
          --devices        the plug-in may use devices
          --file PATH      the plug-in may read and write this file, or what is in this folder
          --new-file PATH  the plug-in may read and write this file, which is not a link
          --folder PATH    the plug-in may read what is in this folder
          --memory BYTES   the most memory; the default is 2 GiB
          --without LAYER  leaves out a layer of the sandbox: landlock, seccomp, limits
          --probe          lists the interfaces of the plug-in, and ends
          --exercise NAME  calls a library's functions in many ways, reports its faults, and ends;
                           for inlet plugins verify
          --help           this text

        Exit codes: 0 closed by inlet, 1 failed and told inlet why, 64 usage, 76 inlet is gone.

        """

    /// Runs the program.
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if words == ["--help"] {
            write(usage, to: STDOUT_FILENO)
            exit(0)
        }
        let arguments: HostArguments
        do throws(HostArguments.Fault) {
            arguments = try HostArguments(words)
        } catch {
            write("inlet-plugin-host: \(error.text); try --help. inlet starts this program.\n", to: STDERR_FILENO)
            exit(ExitCode.usage)
        }
        resetSignals()
        let session = PluginSession(arguments)
        do throws(PluginFailure) {
            try Sandbox(arguments).apply()
        } catch {
            session.fail(error)
        }
        switch arguments.code {
        case .command(let words): session.fail(Interpreter.run(words))
        case .library(let path):
            if let exercise = arguments.exercise { session.exercise(exercise, library: path) }
            do throws(InletError) {
                try Watchdog.start(watching: HostChannel.shared.socket.descriptor) { MessageInbox.raiseWake() }
            } catch {
                session.fail(PluginFailure(error))
            }
            session.run(library: path)
        }
    }

    /// Gives all signals their default action, and blocks none, whatever the parent left. This takes back the Swift
    /// runtime's handlers of crashes, too, which would start another program: Inlet reports the signal.
    private static func resetSignals() {
        // Real-time signals are left to the C library.
        for number in 1..<32 as Range<Int32> where number != SIGKILL && number != SIGSTOP {
            signal(number, SIG_DFL)
        }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        _ = text.withUTF8 { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
