import CSeccomp
import Glibc
import InletCore
import InletPluginIPC

// Unsafe: owns a libseccomp filter.
/// The layer `seccomp`: the system calls that may be made.
///
/// A list of allowed calls. Calls that programs try but can do without, such as a socket, fail with EPERM. Calls in no
/// list, including those newer than this file, fail with ENOSYS, as on a kernel without them: the C library then falls
/// back to an older call. Calls that only an attack makes end the process by SIGSYS.
struct SystemCallFilter {
    private let arguments: HostArguments

    init(_ arguments: HostArguments) { self.arguments = arguments }

    /// Applies the layer to this thread, and those that it starts.
    ///
    /// - Parameter threads: is asked about each new thread.
    func load(_ threads: ThreadLimit) throws(PluginFailure) {
        guard let filter = unsafe seccomp_init(inlet_seccomp_refuse(UInt16(ENOSYS))) else {
            throw Self.failure(ENOMEM)
        }
        defer { unsafe seccomp_release(filter) }
        // Calls of another architecture, such as those of 32 bits, would pass by the list.
        var status = unsafe seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, inlet_seccomp_kill())
        for rule in rules where status == 0 { status = unsafe Self.add(rule, to: filter) }
        if status == 0 { status = unsafe seccomp_load(filter) }
        guard status == 0 else { throw Self.failure(-status) }
        let listener = unsafe seccomp_notify_fd(filter)
        // The plug-in must not have it: it would allow itself threads.
        defer { close(listener) }
        try threads.watch(listener)
    }

    private static func add(_ rule: SystemCallRule, to filter: scmp_filter_ctx) -> Int32 {
        let action =
            switch rule.verdict {
            case .allow: inlet_seccomp_allow()
            case .ask: inlet_seccomp_ask()
            case .refuse(let error): inlet_seccomp_refuse(UInt16(error))
            case .kill: inlet_seccomp_kill()
            }
        let comparisons = rule.conditions.map(\.comparison)
        for name in rule.names.utf8.split(whereSeparator: \.isASCIISpace) {
            // Less than zero: this architecture, or this version of libseccomp, does not know the name.
            let number = unsafe seccomp_syscall_resolve_name(String(Substring(name)))
            guard number >= 0 else { continue }
            let status = unsafe seccomp_rule_add_array(filter, action, number, UInt32(comparisons.count), comparisons)
            guard status == 0 else { return status }
        }
        return 0
    }

    private static func failure(_ number: Int32) -> PluginFailure {
        Sandbox.failure(
            "the layer seccomp", number,
            "It needs Linux 5.5 or later with CONFIG_SECCOMP_FILTER, and no container whose own filter has a listener. "
                + Sandbox.advice(.seccomp))
    }

    /// All rules, depending on the plug-in's rights. No name appears in two rules that could both apply.
    private var rules: [SystemCallRule] {
        var rules = SystemCallLists.always + Self.ofThisProcess
        let (network, devices) = (arguments.mayUseNetwork, arguments.mayUseDevices)
        rules += network || devices ? SystemCallLists.sockets : [.init(.refuse(EPERM), SystemCallLists.socketNames)]
        rules += network ? SystemCallLists.internetFamilies : SystemCallLists.noInternetFamilies
        // libusb and libudev learn from the kernel by it that a device comes or goes.
        rules += SystemCallLists.netlink(routes: network, devices: devices)
        if devices { rules += SystemCallLists.deviceRequests }
        rules.append(.init(arguments.mayWrite ? .allow : .refuse(EPERM), SystemCallLists.fileNames))
        switch arguments.code {
        // Landlock decides which programs it may become.
        case .command: rules.append(.init(.allow, "execve"))
        case .library: rules.append(.init(.kill, "execve"))
        }
        return rules
    }

    /// Signals to only this process: `abort` sends one.
    private static var ofThisProcess: [SystemCallRule] {
        let own = UInt64(getpid())
        return [
            .init(.allow, "tgkill", .equal(0, own)), .init(.allow, "kill", .equal(0, own)),
            // The process itself: 0 or its own number.
            .init(.allow, "prlimit64", .equal(0, 0)), .init(.allow, "prlimit64", .equal(0, own)),
        ]
    }
}
