import CLinux
import Glibc
import InletCore
import InletPluginIPC
import InletSystem

// Unsafe: passes structs to the system calls of Landlock.
/// The layer `landlock`: the files that may be opened, and the access to each.
///
/// Access to any other file fails with EACCES. Versions of Landlock differ: 1 cannot allow renaming between folders, 3
/// adds truncation, 4 TCP, 5 requests to devices, 6 signals and abstract sockets. Debian 12's kernel has version 2, so
/// there only the layer `seccomp` restricts TCP and signals. No version keeps a process from finding out whether a file
/// exists and how long it is.
struct FileAccess {
    private let arguments: HostArguments
    private let version: Int32

    /// Asks the kernel for its version of Landlock.
    ///
    /// - Throws: ``PluginFailure`` if the kernel does not have Landlock.
    init(_ arguments: HostArguments) throws(PluginFailure) {
        self.arguments = arguments
        version = inlet_landlock_version()
        guard version > 0 else { throw Self.failure(errno) }
    }

    /// Applies the layer to this thread, and those that it starts.
    func restrict() throws(PluginFailure) {
        var wanted = inlet_landlock_ruleset(files: handled, network: 0, scoped: 0)
        if version >= 4 { wanted.network = arguments.mayUseNetwork ? NetworkRight.bind : NetworkRight.all }
        if version >= 6 { wanted.scoped = Scope.all }
        let ruleset = unsafe inlet_landlock_create(&wanted)
        guard ruleset >= 0 else { throw Self.failure(errno) }
        defer { close(ruleset) }
        for rule in rules { try allow(rule.access, rule.path, in: ruleset) }
        for path in programFolders {
            try allow(Right.read | Right.execute, path, isFolderOfProgram: true, in: ruleset)
        }
        for path in arguments.newFiles { try allowFile(path, in: ruleset) }
        // A client's socket may be bound to a port that the system picks; the layer seccomp has no listening.
        if version >= 4, arguments.mayUseNetwork {
            guard inlet_landlock_allow_port(ruleset, NetworkRight.bind, 0) == 0 else { throw Self.failure(errno) }
        }
        guard inlet_landlock_restrict(ruleset) == 0 else { throw Self.failure(errno) }
    }

    private var rules: [(path: String, access: UInt64)] {
        var rules: [(path: String, access: UInt64)] = []
        for path in Self.programs { rules.append((path, Right.read | Right.execute)) }
        for path in Self.readable { rules.append((path, Right.read)) }
        // The exercise reads how long each of its threads waited for a processor, which is in a folder for each thread.
        for path in arguments.exercise == nil ? Self.ofItself : ["/proc/self"] { rules.append((path, Right.read)) }
        rules.append(("/proc/self/task", Right.readFolder))
        for path in ["/dev/null", "/dev/zero"] { rules.append((path, Right.readFile | Right.writeFile)) }
        if arguments.mayUseNetwork {
            for path in Self.ofNetwork { rules.append((path, Right.read)) }
        }
        if arguments.mayUseDevices {
            rules.append(("/dev", Right.readFolder))
            for path in DeviceFiles.present() { rules.append((path, Right.read | Right.writeFile | Right.control)) }
            for path in ["/sys", "/run/udev"] { rules.append((path, Right.read)) }
        }
        for path in arguments.files { rules.append((path, Right.read | Right.change)) }
        return rules
    }

    private static let programs = ["/usr", "/bin", "/lib", "/lib64"]
    private static let readable = [
        "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/dev/urandom", "/dev/random", "/proc/cpuinfo",
        "/proc/meminfo", "/sys/devices/system/cpu",
    ]
    // Files about the process itself. Not the whole folder: `net` in it lists the sockets of all users of the machine,
    // and so does `net` in the folder of each thread.
    private static let ofItself = [
        "auxv", "cgroup", "cmdline", "comm", "environ", "fd", "fdinfo", "limits", "maps", "mountinfo", "mounts",
        "sched", "schedstat", "smaps", "smaps_rollup", "stat", "statm", "status",
    ].map { "/proc/self/\($0)" }
    // A file that is replaced later is another one, and not readable any more; the folders hold the real ones of
    // /etc/resolv.conf.
    private static let ofNetwork = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services",
        "/etc/protocols", "/etc/ssl", "/etc/pki", "/run/systemd/resolve", "/run/NetworkManager/resolv.conf",
        "/proc/self/net",
    ]

    /// The folders of the plug-in, and of the libraries that this process has loaded, because a plug-in written in
    /// Swift needs those of its runtime.
    private var programFolders: [String] {
        var folders = arguments.folders
        switch arguments.code {
        case .library(let path): folders.append(Self.folder(of: path))
        case .command(let words):
            if let program = words.first, program.contains(byte: "/") { folders.append(Self.folder(of: program)) }
        }
        return folders + LoadedLibraries.folders()
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(ofByte: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Allows what the kernel's version knows of an access. A path that does not exist is omitted.
    ///
    /// - Parameter isFolderOfProgram: whether the path is refused if it holds all files, or those of the user.
    private func allow(
        _ access: UInt64, _ path: String, isFolderOfProgram: Bool = false, in ruleset: Int32
    ) throws(PluginFailure) {
        let file = unsafe open(path, inlet_open_path)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        let isFolder = unsafe fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        if isFolderOfProgram, Self.isTooWide(status) {
            throw PluginFailure(
                "The plug-in cannot run from the folder '\(path)': a plug-in may read the folder of its code, and this "
                    + "one holds all files of the machine or of a user. Move the plug-in into another folder.")
        }
        let possible = access & handled & (isFolder ? .max : Right.ofFiles)
        guard possible == 0 || inlet_landlock_allow_path(ruleset, possible, file) == 0 else {
            throw Self.failure(errno)
        }
    }

    /// Whether a folder is the root folder, the user's home or a folder above the home.
    private static func isTooWide(_ folder: stat) -> Bool {
        var wide = [home ?? "/", "/"]
        while let slash = wide[0].lastIndex(ofByte: "/"), slash > wide[0].startIndex {
            wide.insert(String(wide[0][..<slash]), at: 0)
        }
        return wide.contains { path in
            var status = stat()
            return unsafe stat(path, &status) == 0 && status.st_dev == folder.st_dev && status.st_ino == folder.st_ino
        }
    }

    /// The user's home by `/etc/passwd`, because the environment is empty; nil if the user is not in that file.
    private static var home: String? {
        guard let file = unsafe fopen("/etc/passwd", "re") else { return nil }
        defer { unsafe fclose(file) }
        while let entry = unsafe fgetpwent(file) {
            if unsafe entry.pointee.pw_uid == getuid() {
                return unsafe String(validatingCString: entry.pointee.pw_dir)
            }
        }
        return nil
    }

    /// Allows to read and write a file that Inlet has made, and nothing if it has been exchanged for something else.
    private func allowFile(_ path: String, in ruleset: Int32) throws(PluginFailure) {
        let file = unsafe open(path, inlet_open_path | O_NOFOLLOW)
        guard file >= 0 else { return }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        let access = (Right.read | Right.change) & handled & Right.ofFiles
        guard inlet_landlock_allow_path(ruleset, access, file) == 0 else { throw Self.failure(errno) }
    }

    /// All that this version can forbid.
    private var handled: UInt64 {
        var handled = Right.first
        if version >= 2 { handled |= Right.refer }
        if version >= 3 { handled |= Right.truncate }
        if version >= 5 { handled |= Right.control }
        return handled
    }

    private static func failure(_ number: Int32) -> PluginFailure {
        Sandbox.failure(
            "the layer landlock", number,
            "It needs Linux 5.13 or later, and \"landlock\" among the kernel's security modules (the boot parameter "
                + "lsm=). " + Sandbox.advice(.landlock))
    }

    /// LANDLOCK_ACCESS_FS_... of linux/landlock.h.
    private enum Right {
        static let execute: UInt64 = 1 << 0
        static let writeFile: UInt64 = 1 << 1
        static let readFile: UInt64 = 1 << 2
        static let readFolder: UInt64 = 1 << 3
        static let refer: UInt64 = 1 << 13
        static let truncate: UInt64 = 1 << 14
        static let control: UInt64 = 1 << 15
        /// The rights of version 1: from 0 to 12.
        static let first: UInt64 = (1 << 13) - 1
        static let read = readFile | readFolder
        /// To write, to remove, and to make folders, files and symbolic links.
        static let change: UInt64 = writeFile | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | refer | truncate
        /// The rights that a rule for a file may have.
        static let ofFiles = execute | writeFile | readFile | truncate | control
    }

    /// LANDLOCK_ACCESS_NET_...
    private enum NetworkRight {
        static let bind: UInt64 = 1 << 0
        static let connect: UInt64 = 1 << 1
        static let all = bind | connect
    }

    /// LANDLOCK_SCOPE_...
    private enum Scope {
        static let abstractSockets: UInt64 = 1 << 0
        static let signals: UInt64 = 1 << 1
        static let all = abstractSockets | signals
    }
}
