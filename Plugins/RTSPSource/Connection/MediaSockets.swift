import InletCore
import InletFFmpeg

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The two UDP sockets of a stream: RTP on an even port, RTCP on the next (RFC 3550, section 11).
///
/// Datagrams from other hosts than the server are dropped. Confined to one thread.
@safe final class MediaSockets {
    let rtp: Int32
    let rtcp: Int32
    /// The port for RTP; that for RTCP is one higher.
    let port: UInt16
    /// Where RTP comes from: the server's address, with the port 0 if that is unknown.
    private var sender: (address: IPAddress, rtpPort: UInt16, rtcpPort: UInt16)?
    private let isMulticast: Bool
    /// Where datagrams of a capture come from, instead of the sockets; nil outside captures.
    private let replay: CaptureReplay?
    private let datagram = DatagramMemory()
    /// Datagrams from elsewhere than the server, which were dropped.
    private(set) var strangers: UInt64 = 0

    /// How much the system keeps until it is read: 1 MiB, a key frame of 4K at a high rate. The system may grant less.
    private static let bufferSize: Int32 = 1 << 20
    private static let mostTries = 64

    /// Opens a pair on free ports.
    ///
    /// - Parameter local: this machine's address on the way to the server.
    /// - Throws: ``InletError/Code/resourceExhausted`` if no pair is free.
    init(local: IPAddress) throws(InletError) {
        for _ in 0..<Self.mostTries {
            let first = try Self.open(local, port: 0)
            let found = Self.port(of: first)
            let isEven = found.isMultiple(of: 2)
            guard found > 1, found < .max,
                let second = try? Self.open(local, port: isEven ? found + 1 : found - 1)
            else {
                close(first)
                continue
            }
            (rtp, rtcp) = isEven ? (first, second) : (second, first)
            port = isEven ? found : found - 1
            isMulticast = false
            replay = nil
            return
        }
        throw InletError(
            .resourceExhausted, "No pair of UDP ports is free. Take transport=tcp, or stop some sources.")
    }

    /// Joins a multicast group.
    ///
    /// - Parameters:
    ///   - group: the group's address.
    ///   - local: this machine's address on the interface to join on: that of the control connection.
    /// - Throws: ``InletError/Code/unsupported`` if the address is no group's, or the system cannot join it.
    init(joining group: IPAddress, rtpPort: UInt16, rtcpPort: UInt16, local: IPAddress) throws(InletError) {
        guard group.space == .multicast, rtpPort > 0 else {
            throw InletError(
                .malformedData, "The server names no multicast group to join. Try transport=tcp.")
        }
        rtp = try Self.open(group, port: rtpPort)
        do throws(InletError) {
            rtcp = try Self.open(group, port: rtcpPort > 0 ? rtcpPort : rtpPort == .max ? 0 : rtpPort + 1)
        } catch {
            close(rtp)
            throw error
        }
        port = rtpPort
        isMulticast = true
        replay = nil
        for descriptor in [rtp, rtcp] { try Self.join(group, local, descriptor) }
    }

    /// Takes datagrams from a capture. There are no sockets then.
    init(replaying replay: CaptureReplay) {
        (rtp, rtcp, port, isMulticast) = (-1, -2, 49_152, false)
        self.replay = replay
    }

    deinit {
        close(rtp)
        close(rtcp)
    }

    /// Accepts datagrams from this sender alone.
    ///
    /// - Parameters:
    ///   - address: the server's.
    ///   - rtpPort: the port that RTP comes from; 0 if the server did not say.
    func accept(from address: IPAddress, rtpPort: UInt16, rtcpPort: UInt16) {
        sender = (address, rtpPort, rtcpPort)
    }

    /// Reads the next datagram.
    ///
    /// - Parameter descriptor: ``rtp`` or ``rtcp``.
    /// - Returns: whether there was one; `body` is called with it unless a stranger sent it.
    func receive(on descriptor: Int32, _ body: (RawSpan) -> Void) -> Bool {
        if let replay {
            guard let datagram = replay.takeDatagram(isControl: descriptor == rtcp) else { return false }
            unsafe body(datagram.span.bytes)
            return true
        }
        while true {
            var count = -1
            let source = unsafe SocketAddress { address, length in
                count = unsafe recvfrom(
                    descriptor, datagram.memory.baseAddress, datagram.memory.count, Int32(MSG_DONTWAIT), address,
                    &length)
                return count >= 0
            }
            if count < 0 {
                // A refusal that comes back for a packet to the server's port says nothing about what it sends.
                if errno == EINTR || errno == ECONNREFUSED { continue }
                return false
            }
            guard isFromSender(source, isControl: descriptor == rtcp) else {
                strangers &+= 1
                return true
            }
            unsafe body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(datagram.memory)[..<count]).bytes)
            return true
        }
    }

    /// Whether a datagram for RTP waits.
    var hasDatagram: Bool {
        if let replay { return replay.hasMore }
        var byte: UInt8 = 0
        return unsafe recv(rtp, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK) | Int32(MSG_TRUNC)) >= 0
    }

    private func isFromSender(_ source: SocketAddress?, isControl: Bool) -> Bool {
        guard let sender, let source else { return false }
        let port = isControl ? sender.rtcpPort : sender.rtpPort
        return source.ip?.unmapped == sender.address.unmapped && (port == 0 || isMulticast || source.port == port)
    }

    /// Sends a datagram to the server's port, if that is known. Nothing waits for it.
    func send(_ bytes: [UInt8], isControl: Bool) {
        guard let sender, !isMulticast || isControl else { return }
        let port = isControl ? sender.rtcpPort : sender.rtpPort
        guard port > 0 else { return }
        let target = SocketAddress(sender.address, port: port)
        _ = unsafe target.withSocketAddress { address, length in
            unsafe sendto(
                isControl ? rtcp : rtp, bytes, bytes.count,
                Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), address, length)
        }
    }

    private static func open(_ address: IPAddress, port: UInt16) throws(InletError) -> Int32 {
        let family = address.bytes.count == 4 ? AF_INET : AF_INET6
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { throw SocketError.error(errno, operation: "socket") }
        SocketOption.set(descriptor, SOL_SOCKET, SO_RCVBUF, bufferSize)
        // Several receivers of a group on one machine.
        if address.space == .multicast { SocketOption.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1) }
        let target = SocketAddress(address, port: port)
        guard unsafe target.withSocketAddress({ unsafe bind(descriptor, $0, $1) }) == 0 else {
            let number = errno
            close(descriptor)
            throw SocketError.error(number, operation: "bind")
        }
        return descriptor
    }

    private static func port(of descriptor: Int32) -> UInt16 {
        unsafe SocketAddress { unsafe getsockname(descriptor, $0, &$1) == 0 }?.port ?? 0
    }

    private static func join(_ group: IPAddress, _ local: IPAddress, _ descriptor: Int32) throws(InletError) {
        let status: Int32
        if group.bytes.count == 4 {
            // ip(7), `ip_mreqn`: the group, this machine's address, and the index of an interface, 0 for any.
            var request = group.bytes + (local.bytes.count == 4 ? local.bytes : [0, 0, 0, 0]) + [0, 0, 0, 0]
            status = unsafe setsockopt(
                descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, socklen_t(request.count))
        } else {
            // ipv6(7), `ipv6_mreq`: the group and the index of an interface, 0 for any.
            var request = group.bytes + [0, 0, 0, 0]
            status = unsafe setsockopt(
                descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, &request, socklen_t(request.count))
        }
        guard status == 0 else { throw SocketError.error(errno, operation: "IP_ADD_MEMBERSHIP") }
    }
}

extension IPAddress {
    /// The IPv4 address that an IPv6 address stands for (RFC 4291, 2.5.5.2); the address itself otherwise.
    fileprivate var unmapped: IPAddress {
        guard bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else {
            return self
        }
        return IPAddress(bytes: bytes.suffix(4)) ?? self
    }
}

/// Owns the memory of one datagram: the largest that UDP carries.
@safe private final class DatagramMemory {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 64)

    deinit { unsafe memory.deallocate() }
}
