import Glibc
package import InletCore
import InletFFmpeg
import InletNetwork
package import InletRTSP
import InletSystem

/// Searches this machine's networks for ONVIF devices (WS-Discovery) over IPv4. The addresses that they state are not
/// contacted.
package struct DeviceDiscovery {
    /// The names of the interfaces to search on; if empty, all that are up and support multicast.
    package var interfaces: [String] = []
    /// The time to wait for responses. The default is 3 s.
    package var timeout = Duration.seconds(3)

    /// The group and the port of WS-Discovery (section 2.4).
    private static let group: [UInt8] = [239, 255, 255, 250]
    private static let port: UInt16 = 3702
    /// The interval after which the probe is sent again, because datagrams may be lost (SOAP-over-UDP, appendix I).
    private static let repetition = Duration.milliseconds(150)
    /// The maximum number of datagrams read from one socket before it is the others' turn.
    private static let turn = 64

    /// Creates a search with default values.
    package init() {}

    /// Sends the probe and collects responses until the time is up. Blocks the thread.
    ///
    /// - Returns: the responses, and the errors on some of the interfaces.
    /// - Throws: ``InletError/Code/invalidConfiguration`` for an interface that cannot be used,
    ///   ``InletError/Code/disconnected`` if there is no interface, or the error if no interface could send the probe.
    package func run() throws(InletError) -> (answers: DiscoveryAnswers, troubles: [String]) {
        let found = try NetworkInterface.multicastInterfaces(named: interfaces)
        guard !found.isEmpty, let group = IPAddress(bytes: Self.group) else {
            throw InletError(
                .disconnected,
                "No network interface that is up has an IPv4 address and supports multicast. Check with: ip address.")
        }
        var random = SystemRandomNumberGenerator()
        var answers = DiscoveryAnswers(
            to: DiscoveryProbe(random: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
        let message = answers.probe.envelope
        let target = SocketAddress(group, port: Self.port)
        var sockets: [DiscoverySocket] = []
        var failures: [(name: String, error: InletError)] = []
        for interface in found {
            do throws(InletError) {
                let socket = try DiscoverySocket(on: interface.address, group)
                try socket.send(message, to: target)
                sockets.append(socket)
            } catch {
                failures.append((interface.name, error))
            }
        }
        if sockets.isEmpty, let failure = failures.first { throw failure.error }
        let start = MonotonicTime.now
        collect(&answers, sockets, until: min(start + timeout, start + Self.repetition))
        // An interface that fails now has already sent the first probe.
        for socket in sockets { try? socket.send(message, to: target) }
        collect(&answers, sockets, until: start + timeout)
        return (answers, failures.map { "\($0.name.sanitized(limit: 64)): \($0.error.message)" })
    }

    private func collect(_ answers: inout DiscoveryAnswers, _ sockets: [DiscoverySocket], until end: MonotonicTime) {
        var polled = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while !answers.isFull {
            let left = (end - MonotonicTime.now).wholeNanoseconds
            guard left > 0 else { return }
            // An additional millisecond makes sure that the time is up when the wait returns.
            _ = unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: left / 1_000_000 + 1))
            for (index, socket) in sockets.enumerated() where polled[index].revents != 0 {
                for _ in 0..<Self.turn {
                    guard let message = socket.receive(atMost: DiscoveryAnswers.longestMessage) else { break }
                    answers.take(message.bytes, from: message.sender)
                }
            }
        }
    }
}

// Unsafe: owns the sockets that search for devices.
/// Owns a UDP socket that sends to a multicast group through one interface and receives the responses.
@safe private final class DiscoverySocket {
    let descriptor: Int32

    init(on local: IPAddress, _ group: IPAddress) throws(InletError) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_INET, type, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { throw SocketError.error(errno, operation: "socket") }
        let address = SocketAddress(local, port: 0)
        guard unsafe address.withSocketAddress({ unsafe bind(descriptor, $0, $1) }) == 0 else {
            throw SocketError.error(errno, operation: "bind")
        }
        // Restricts the search to this network.
        Multicast.send(from: local, group, timeToLive: 1, descriptor)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func send(_ bytes: [UInt8], to target: SocketAddress) throws(InletError) {
        let count = unsafe target.withSocketAddress { address, length in
            unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
        }
        guard count == bytes.count else { throw SocketError.error(errno, operation: "sendto") }
    }

    /// Returns the next datagram and the host that sent it; nil if none is waiting. A datagram that is too long is
    /// returned empty.
    func receive(atMost limit: Int) -> (bytes: [UInt8], sender: [UInt8])? {
        var isLonger = false
        var isOver = false
        var sender = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit + 1) { buffer, count in
            let received = unsafe withUnsafeMutableBytes(of: &sender) { address in
                unsafe recvfrom(
                    descriptor, buffer.baseAddress, buffer.count, 0,
                    address.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            isOver = received < 0
            isLonger = received > limit
            count = max(0, received)
        }
        if isOver { return nil }
        let number = UInt32(bigEndian: sender.sin_addr.s_addr)
        let host = Array("\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)".utf8)
        return (isLonger ? [] : bytes, host)
    }
}
