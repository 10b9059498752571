import CLinux
import Glibc
import InletCore
import InletSystem

// Unsafe: clears and sets the environment.
/// Restricts the process before any of the plug-in's code runs: loading a library runs its constructors.
///
/// All layers also apply to threads started later and to a program that the process executes. No layer can be removed.
struct Sandbox {
    private let arguments: HostArguments

    init(_ arguments: HostArguments) { self.arguments = arguments }

    /// Applies all layers except those that the user disabled.
    ///
    /// - Throws: ``PluginFailure`` if a layer cannot be applied: the plug-in then must not run.
    func apply() throws(PluginFailure) {
        clearEnvironment()
        try closeDescriptors()
        // Before this process forbids others to read of it.
        let threads = arguments.without.contains(.seccomp) ? nil : try ThreadLimit()
        try dropRights()
        if !arguments.without.contains(.limits) { try limit() }
        if !arguments.without.contains(.landlock) { try FileAccess(arguments).restrict() }
        // After the other layers, which make calls that it forbids.
        if let threads { try SystemCallFilter(arguments).load(threads) }
        // After the filter: Linux refuses to pass its descriptor while the user has more in flight than this limit
        // (ETOOMANYREFS).
        if !arguments.without.contains(.limits) { try lower([(INLET_LIMIT_DESCRIPTORS, 256)]) }
    }

    /// Leaves what programs need, and nothing of the user's.
    private func clearEnvironment() {
        clearenv()
        for (name, value) in Self.environment { unsafe setenv(name, value, 1) }
        if arguments.isProbe { unsafe setenv("INLET_PLUGIN_PROBE", "1", 1) }
    }

    private static let environment = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("HOME", "/nonexistent"),
    ]

    /// Closes the descriptors that the process has inherited.
    private func closeDescriptors() throws(PluginFailure) {
        // The parent has closed them, too; a descriptor that leaks would reach past every layer.
        guard inlet_close_from(UInt32(HostChannel.firstForeignDescriptor)) == 0 else {
            throw Self.failure("the closing of descriptors", errno, "Inlet needs Linux 5.9 or later for plug-ins.")
        }
    }

    /// Drops the rights that no plug-in may have, whichever layers the user disabled.
    private func dropRights() throws(PluginFailure) {
        guard inlet_forbid_new_privileges() == 0, inlet_forbid_tracing() == 0 else {
            throw Self.failure("the refusal of new privileges", errno, "Inlet needs Linux 3.5 or later.")
        }
        // Root without capabilities is an ordinary user that owns root's files: Landlock decides about that.
        guard inlet_drop_capabilities() == 0 else {
            throw Self.failure("the loss of capabilities", errno, "Report this.")
        }
    }

    /// The number of processes has no limit here, because the limit counts all processes of the user; the filter of
    /// system calls allows none, and bounds threads (``ThreadLimit``).
    private func limit() throws(PluginFailure) {
        var limits = [
            (INLET_LIMIT_MEMORY, UInt64(arguments.memory)), (INLET_LIMIT_CORE, 0), (INLET_LIMIT_STACK, 8 << 20),
            (INLET_LIMIT_MESSAGES, 0),
        ]
        if !arguments.mayWrite { limits.append((INLET_LIMIT_FILE, 0)) }
        try lower(limits)
    }

    private func lower(_ limits: [(kind: Int, most: UInt64)]) throws(PluginFailure) {
        for (kind, most) in limits {
            guard inlet_lower_limit(Int32(kind), most) == 0 else {
                throw Self.failure("the layer limits", errno, Self.advice(.limits))
            }
        }
    }

    /// A failure to apply a layer.
    static func failure(_ layer: String, _ number: Int32, _ advice: String) -> PluginFailure {
        var failure = PluginFailure(
            "The plug-in's sandbox cannot be set up: \(layer) fails: \(SystemErrorText.of(number)). \(advice)")
        failure.nativeCode = number
        return failure
    }

    /// Returns advice for a layer that cannot be applied.
    static func advice(_ layer: SandboxLayer) -> String {
        "If the plug-in is trusted, allow it to run without the layer \(layer.rawValue)."
    }
}
