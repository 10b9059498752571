import CInletPlugin
import Foundation
import Glibc
import InletPluginIPC
import ReferenceTools
import Testing

/// The permitted and forbidden actions of the plug-in `actions.c`, and the layer that blocks each: without that layer
/// it succeeds.
@Suite(.blocking) struct SandboxTests {
    /// Makes a plug-in perform an action, and returns its report, or how the process ended.
    private func outcome(_ action: String, _ value: String = "", _ options: [String] = []) throws -> String {
        let plugin = try CompiledPlugin("actions")
        let child = try PluginChild(options + ["--library", plugin.path])
        do {
            return try child.create([("action", action), ("value", value)]).text
        } catch is PluginChild.Failure {
            return switch try child.waitForEnd() {
            case .exit(let code): "exit \(code)"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    private func without(_ layers: String...) -> [String] { layers.flatMap { ["--without", $0] } }

    @Test("Landlock refuses /etc/shadow, even to root")
    func readsNoShadow() throws {
        #expect(try outcome("read", "/etc/shadow") == "EACCES")
        let withoutLandlock = try outcome("read", "/etc/shadow", without("landlock"))
        let isReadable = unsafe access("/etc/shadow", R_OK) == 0
        #expect(withoutLandlock == (isReadable ? "done" : "EACCES"))
    }

    @Test("a file can be read and written only with permission")
    func files() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("file")
        try Data("a".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try outcome("read", file) == "EACCES")
        #expect(try outcome("write", file) == "EACCES")
        #expect(try outcome("read", file, without("landlock")) == "done")
        // The limit of a file's size is the second line of defence.
        #expect(try outcome("write", file, without("landlock")) == "signal \(SIGXFSZ)")
        #expect(try outcome("write", file, without("landlock", "limits")) == "done")
        #expect(try outcome("read", file, ["--file", file]) == "done")
        #expect(try outcome("write", file, ["--file", file]) == "done")
        #expect(try outcome("write", folder.path("new"), ["--file", folder.path("")]) == "done")
        #expect(try outcome("write", folder.path("newer"), ["--file", file]) == "EACCES")
        #expect(try outcome("read", folder.path(""), ["--folder", folder.path("")]) == "done")
        #expect(try outcome("write", file, ["--folder", folder.path("")]) == "EACCES")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("axx".utf8))
    }

    @Test("files that programs need to run are readable, and other processes are not")
    func systemFiles() throws {
        #expect(try outcome("read", "/usr/bin/env") == "done")
        #expect(try outcome("read", "/proc/self/maps") == "done")
        #expect(try outcome("read", "/proc/\(getpid())/maps") == "EACCES")
        #expect(try outcome("read", "/dev") == "EACCES")
        #expect(try outcome("read", "/dev", ["--devices"]) == "done")
        #expect(try outcome("read", "/etc/hosts") == "EACCES")
        #expect(try outcome("read", "/etc/hosts", ["--network"]) == "done")
    }

    @Test("a connection needs permission: seccomp refuses the socket, and Landlock the connection")
    func network() async throws {
        let port = try FreePort.find()
        #expect(try outcome("connect", "\(port)") == "EPERM")
        #expect(try outcome("connect", "\(port)", ["--network"]) == "ECONNREFUSED")
        #expect(try outcome("connect", "\(port)", ["--devices"]) == "EPERM")
        #expect(try outcome("connect", "\(port)", without("seccomp")) == "EACCES")
        #expect(try outcome("connect", "\(port)", without("seccomp", "landlock")) == "ECONNREFUSED")
        #expect(try outcome("netlink") == "EPERM")
        #expect(try outcome("netlink", "", ["--network"]) == "done")
    }

    @Test("the machine's services behind sockets in folders are out of reach, even with the network")
    func localServices() throws {
        #expect(try outcome("connect-unix", "/nowhere") == "EPERM")
        #expect(try outcome("connect-unix", "/nowhere", ["--network"]) == "EPERM")
        #expect(try outcome("connect-unix", "/nowhere", without("seccomp")) == "ENOENT")
    }

    @Test("a plug-in starts threads and no processes")
    func processes() throws {
        #expect(try outcome("thread") == "done")
        #expect(try outcome("fork") == "EPERM")
        #expect(try outcome("fork", "", without("seccomp")) == "done")
    }

    @Test("a plug-in starts at most 256 threads, even as root")
    func threads() throws {
        #expect(try outcome("threads", "200") == "done")
        #expect(try outcome("threads", "300") == "EAGAIN")
        #expect(try outcome("threads", "3000") == "EAGAIN")
        #expect(try outcome("crowd", "256") == "done", "threads that start others at the same time")
        #expect(try outcome("threads", "300", without("seccomp")) == "done")
    }

    /// The system limits them for each user, over all of the user's processes, by the limit of the process that sends.
    @Test("a plug-in starts while its user has hundreds of descriptors in flight")
    func descriptorsInFlight() throws {
        var ends: [MessageSocket] = []
        for _ in 0..<3 {
            let (sender, receiver) = try MessageSocket.pair()
            for _ in 0..<100 { try sender.send(UInt8(0), descriptor: sender.descriptor) }
            ends += [sender, receiver]
        }
        let outcome = try outcome("threads", "200")
        #expect(outcome == "done")
        withExtendedLifetime(ends) {}
    }

    @Test("the sockets of the machine are listed only with the permission for the network")
    func listedSockets() throws {
        for path in ["/proc/self/net/tcp", "/proc/net/unix", "/proc/thread-self/net/tcp", "/proc/self/net"] {
            #expect(try outcome("read", path) == "EACCES", "\(path)")
            #expect(try outcome("read", path, ["--devices"]) == "EACCES", "\(path)")
        }
        #expect(try outcome("read", "/proc/self/net/tcp", ["--network"]) == "done")
        for name in ["maps", "status", "fd", "task", "cgroup", "mountinfo"] {
            #expect(try outcome("read", "/proc/self/\(name)") == "done", "\(name)")
        }
    }

    @Test("the permission for devices opens no shared memory, message queue, disk or terminal")
    func otherDevices() throws {
        let name = "inlet-test-\(UUID().uuidString)"
        for folder in ["/dev/shm"] + (FileManager.default.fileExists(atPath: "/dev/mqueue") ? ["/dev/mqueue"] : []) {
            let path = "\(folder)/\(name)"
            guard FileManager.default.createFile(atPath: path, contents: Data("x".utf8)) else { continue }
            defer { unsafe unlink(path) }
            #expect(try outcome("read", path, ["--devices"]) == "EACCES", "\(path)")
            #expect(try outcome("write", path, ["--devices"]) == "EACCES", "\(path)")
        }
        for path in ["/dev/ptmx", "/dev/tty", "/dev/full", "/dev/kmsg", "/dev/mem", "/dev/uinput"] {
            let result = try outcome("read", path, ["--devices"])
            #expect(result == (FileManager.default.fileExists(atPath: path) ? "EACCES" : "ENOENT"), "\(path)")
        }
        let entries = try FileManager.default.contentsOfDirectory(atPath: "/dev")
        // Not all exist on each machine, and some have no hardware behind them.
        for name in entries where ["video0", "media0", "ttyS0", "udmabuf"].contains(name) {
            guard unsafe access("/dev/\(name)", R_OK | W_OK) == 0 else { continue }
            #expect(try outcome("open", "/dev/\(name)", ["--devices"]) != "EACCES", "\(name)")
        }
    }

    @Test("a library directly in the root folder or in the user's home is refused: its folder is readable")
    func wideFolders() throws {
        let plugin = try CompiledPlugin("actions")
        let home = unsafe getpwuid(getuid()).map { unsafe String(cString: $0.pointee.pw_dir) } ?? "/"
        for folder in ["", "/.", "/usr/..", home == "/" ? "" : home] {
            // It need not exist: the sandbox comes first.
            let child = try PluginChild(["--library", "\(folder)/x.so"])
            let result = try child.create([("action", "thread")])
            #expect(result.result == INLET_ERROR_PLUGIN)
            #expect(result.text.contains("Move the plug-in into another folder"), "\(folder): \(result.text)")
        }
        #expect(try outcome("thread", "", ["--folder", (plugin.path as NSString).deletingLastPathComponent]) == "done")
    }

    @Test("a plug-in that becomes another program, or traces, is ended by SIGSYS")
    func attacks() throws {
        #expect(try outcome("execute") == "signal \(SIGSYS)")
        #expect(try outcome("execute", "", without("seccomp")) == "exit 0")
        #expect(try outcome("trace") == "signal \(SIGSYS)")
        #expect(try outcome("trace", "", without("seccomp")) == "done")
    }

    @Test("signals to other processes are refused by both layers")
    func signals() throws {
        #expect(try outcome("signal") == "ENOSYS")
        #expect(try outcome("signal", "", without("seccomp")) == "EPERM")
        #expect(try outcome("signal", "", without("seccomp", "landlock")) == "done")
        #expect(try outcome("abort") == "signal \(SIGABRT)")
        #expect(try outcome("exit") == "exit 0")
    }

    @Test("memory is limited, and no kind of shared memory bypasses the limit")
    func memory() throws {
        let megabyte = 1 << 20
        #expect(try outcome("memory", "\(64 * megabyte)") == "done")
        #expect(try outcome("memory", "\(3072 * megabyte)") == "ENOMEM")
        #expect(try outcome("memory", "\(300 * megabyte)", ["--memory", "\(256 * megabyte)"]) == "ENOMEM")
        let unlimited = ["--memory", "\(256 * megabyte)"] + without("limits")
        #expect(try outcome("memory", "\(300 * megabyte)", unlimited) == "done")
        #expect(try outcome("memfd") == "EPERM")
        #expect(try outcome("memfd", "", without("seccomp")) == "signal \(SIGXFSZ)")
        #expect(try outcome("memfd", "", without("seccomp", "limits")) == "done")
    }

    @Test("descriptors are limited, and none of Inlet's is left")
    func descriptors() throws {
        #expect(try outcome("descriptors") == "EMFILE")
        #expect(try outcome("descriptor", "3") == "done")
        #expect(try outcome("descriptor", "9") == "EBADF")
        #expect(try outcome("descriptor", "9", without("seccomp", "landlock", "limits")) == "EBADF")
    }

    @Test("requests reach devices only with permission, and never simulate typing by the user")
    func requests() throws {
        #expect(try outcome("ioctl") == "ENOSYS")
        // Standard input is not a camera: the system was asked.
        #expect(try outcome("ioctl", "", ["--devices"]) == "ENOTTY")
        #expect(try outcome("type", "", ["--devices"]) == "ENOSYS")
        #expect(try outcome("type", "", ["--devices"] + without("seccomp")) != "ENOSYS")
    }

    @Test(
        "a layer that the system lacks is an error that names it, unless the layer was disabled",
        arguments: SandboxTests.layers)
    func absentLayers(layer: String) throws {
        let launcher = try CompiledPlugin("refuse", isProgram: true)
        let plugin = try CompiledPlugin("actions")
        let arguments = ["--library", plugin.path]
        let refused = try PluginChild(arguments, through: [launcher.path, layer])
        let result = try refused.create([("action", "thread")])
        #expect(result.result == INLET_ERROR_PLUGIN)
        #expect(result.text.contains("the layer \(layer) fails"), "\(result.text)")
        #expect(try refused.waitForEnd() == .exit(1))
        let allowed = try PluginChild(without(layer) + arguments, through: [launcher.path, layer])
        #expect(try allowed.create([("action", "thread")]).text == "done")
    }

    private static let layers = ["landlock", "seccomp", "limits"]

    @Test("neither capabilities nor the user's environment are left")
    func rights() throws {
        #expect(try outcome("capabilities") == "EPERM")
        #expect(try outcome("environment", "SECRET=") == "ENOENT")
        #expect(try outcome("environment", "PATH=/usr") == "done")
    }
}
