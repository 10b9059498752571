import Glibc
import InletCore
import InletFFmpeg
import InletNetwork
import InletSystem
import Synchronization

/// Connects to a host: looks up its name and tries its addresses in parallel, each a little later than the previous
/// one (RFC 8305), so that one dead address of two costs no time-out.
struct HostConnection {
    let host: String
    let port: UInt16
    /// Returns whether connecting to an address is allowed.
    var allows: (IPAddress) -> Bool = { _ in true }

    /// The time after which the next address is tried in parallel (RFC 8305, section 5).
    private static let stagger = Duration.milliseconds(250)
    /// The advice about the setting to change if connecting takes too long.
    static let advice = "connect-timeout sets how long to wait."
    /// The maximum number of addresses to try.
    private static let mostAddresses = 8

    /// Connects.
    ///
    /// - Parameters:
    ///   - deadline: the time limit.
    ///   - wait: waits for descriptors; see ``DescriptorWait``.
    /// - Throws: ``InletError/Code/hostNotFound``, ``InletError/Code/connectionRefused`` and other errors of
    ///   ``SocketError``; ``InletError/Code/timedOut``; ``InletError/Code/addressRefused`` if no address is allowed;
    ///   ``InletError/Code/invalidConfiguration`` for a link-local address without an interface.
    ///
    /// - Returns: the connection, and the number of addresses to try.
    func connect(
        until deadline: MonotonicTime, _ wait: DescriptorWait
    ) throws(InletError) -> (channel: TCPChannel, addresses: Int) {
        let found: [IPAddress]
        if let address = IPAddress(literal: host) {
            guard !address.needsZone else {
                throw InletError(
                    .invalidConfiguration,
                    "A link-local address needs its network interface, as in rtsp://[fe80::1%25eth0]/stream.")
            }
            found = [address]
        } else {
            found = try HostResolution.addresses(of: host, until: deadline, wait)
        }
        let addresses = found.filter(allows)
        guard !addresses.isEmpty else {
            throw found.isEmpty
                ? InletError(
                    .hostNotFound,
                    "The name service does not know the host. Check its spelling, and that DNS works (getent hosts NAME)."
                ) : AddressPolicy.refusal
        }
        let tried = addresses.prefix(Self.mostAddresses)
        return (try connect(to: tried, until: deadline, wait), tried.count)
    }

    private func connect(
        to addresses: ArraySlice<IPAddress>, until deadline: MonotonicTime, _ wait: DescriptorWait
    ) throws(InletError) -> TCPChannel {
        var untried = addresses
        var tries: [TCPChannel] = []
        var failure: InletError?
        while true {
            if tries.isEmpty, untried.isEmpty {
                throw failure ?? InletError(.hostNotFound, "The host has no address.")
            }
            var next = deadline
            if let address = untried.popFirst() {
                do throws(InletError) {
                    tries.append(try TCPChannel(connectingTo: SocketAddress(address, port: port)))
                } catch {
                    failure = error
                    continue
                }
                if !untried.isEmpty { next = min(deadline, wait.clock.now + Self.stagger) }
            }
            while !tries.isEmpty, wait.clock.now < next {
                let ready = try wait.wait(for: tries.map { ($0.descriptor, Int16(POLLOUT)) }, until: next)
                guard !ready.isEmpty else { continue }
                for index in ready.sorted(by: >) where index < tries.count {
                    guard let number = tries[index].connectionError else { return tries[index] }
                    failure = SocketError.error(number, operation: "connect")
                    tries.remove(at: index)
                }
                // The next address need not wait for its turn.
                break
            }
            guard wait.clock.now < deadline else {
                throw InletError(
                    .timedOut,
                    "The server does not answer. Check the address, the server and the network. \(Self.advice)",
                    context: .init(operation: "connect"))
            }
        }
    }
}

/// Looks up a name on a separate thread, because a name service cannot be interrupted.
private final class HostResolution: Sendable {
    private struct State {
        var found: [IPAddress]?
        var isAbandoned = false
    }

    private let state = Mutex(State())
    private let done: WakeUpSignal

    /// The number of abandoned look-ups in the whole process, which is limited because a dead name service must not
    /// use up all threads.
    private static let abandoned = Atomic(0)
    private static let mostAbandoned = 16

    private init() throws(InletError) { done = try WakeUpSignal() }

    static func addresses(
        of host: String, until deadline: MonotonicTime, _ wait: DescriptorWait
    ) throws(InletError) -> [IPAddress] {
        guard abandoned.load(ordering: .relaxed) < mostAbandoned else {
            throw InletError(
                .resourceExhausted,
                "Too many connections are waiting for the name service. Check that DNS works (getent hosts NAME).")
        }
        let job = try HostResolution()
        try SystemThread.start(named: "inlet-lookup") { job.finish(HostLookup.addresses(of: host)) }
        do throws(InletError) {
            while true {
                if let found = job.state.withLock({ $0.found }) { return found }
                guard wait.clock.now < deadline else {
                    throw InletError(
                        .timedOut,
                        "The name service does not answer. Check that DNS works (getent hosts NAME). \(HostConnection.advice)"
                    )
                }
                _ = try wait.wait(for: [(job.done.descriptor, Int16(POLLIN))], until: deadline)
            }
        } catch {
            job.abandon()
            throw error
        }
    }

    private func abandon() {
        let isRunning = state.withLock { state in
            state.isAbandoned = true
            return state.found == nil
        }
        if isRunning { Self.abandoned.add(1, ordering: .relaxed) }
    }

    private func finish(_ found: [IPAddress]) {
        let isAbandoned = state.withLock { state in
            state.found = found
            return state.isAbandoned
        }
        if isAbandoned { Self.abandoned.subtract(1, ordering: .relaxed) }
        done.raise()
    }
}
