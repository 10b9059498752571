import Glibc
import InletCore
import InletFFmpeg
import InletNetwork

// Unsafe: owns the memory of received datagrams and passes addresses to the system.
/// The two UDP sockets of a stream: RTP on an even port, RTCP on the next (RFC 3550, section 11).
///
/// Datagrams from hosts other than the server are dropped. In a multicast group, receiver reports and key-frame
/// requests are sent to the group (RFC 3550, section 6). Confined to one thread.
@safe final class MediaSockets {
    let rtp: Int32
    let rtcp: Int32
    /// The port for RTP; the port for RTCP is one higher.
    let port: UInt16
    /// The origin of RTP: the server's address, with port 0 if the port is unknown.
    private var sender: (address: IPAddress, rtpPort: UInt16, rtcpPort: UInt16)?
    /// The group's address and port for RTCP; nil with unicast.
    private let group: SocketAddress?
    /// The origin of a capture's datagrams, which replaces the sockets; nil outside captures.
    private let replay: CaptureReplay?
    private let datagram = DatagramMemory()
    /// The number of dropped datagrams from hosts other than the server.
    private(set) var strangers: UInt64 = 0

    /// The system's receive buffer: 1 MiB, which is a 4K key frame at a high rate. The system may grant less.
    private static let bufferSize: Int32 = 1 << 20
    private static let mostTries = 64

    /// Opens a pair of sockets on free ports.
    ///
    /// - Parameter local: this machine's address on the route to the server.
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
            group = nil
            replay = nil
            return
        }
        throw InletError(
            .resourceExhausted, "No pair of UDP ports is free. Use transport=tcp, or stop some sources.")
    }

    /// Joins a multicast group.
    ///
    /// - Parameters:
    ///   - group: the group's address.
    ///   - rtcpPort: the port for RTCP; 0 means the one after `rtpPort`.
    ///   - timeToLive: the time to live of reports; nil is the system's default of 1, which crosses no router.
    ///   - local: this machine's address on the interface for joining the group, which is that of the control
    ///     connection.
    init(
        joining group: IPAddress, rtpPort: UInt16, rtcpPort: UInt16, timeToLive: Int?, local: IPAddress
    ) throws(InletError) {
        guard group.space == .multicast, rtpPort > 0, rtcpPort > 0 || rtpPort < .max else {
            throw InletError(
                .malformedData, "The server names no multicast group to join. Try transport=tcp.")
        }
        var group = group
        if group.bytes.count == 16 { group.zone = NetworkInterface.index(of: local) }
        let rtcpPort = rtcpPort > 0 ? rtcpPort : rtpPort + 1
        rtp = try Self.open(group, port: rtpPort)
        do throws(InletError) {
            rtcp = try Self.open(group, port: rtcpPort)
        } catch {
            close(rtp)
            throw error
        }
        port = rtpPort
        self.group = SocketAddress(group, port: rtcpPort)
        replay = nil
        for descriptor in [rtp, rtcp] { try Multicast.join(group, local, descriptor) }
        Multicast.send(from: local, group, timeToLive: timeToLive, rtcp)
    }

    /// Receives datagrams from a capture instead of sockets.
    init(replaying replay: CaptureReplay) {
        (rtp, rtcp, port, group) = (-1, -2, 49_152, nil)
        self.replay = replay
    }

    deinit {
        close(rtp)
        close(rtcp)
    }

    /// Restricts datagrams to this sender.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - rtpPort: the port from which RTP is sent; 0 if the server did not state it.
    func accept(from address: IPAddress, rtpPort: UInt16, rtcpPort: UInt16) {
        sender = (address, rtpPort, rtcpPort)
    }

    /// Reads the next datagram.
    ///
    /// - Parameter descriptor: ``rtp`` or ``rtcp``.
    /// - Returns: whether there was a datagram. `body` is called with it unless it came from another host.
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
                // The rejection of a packet by the server's port says nothing about the packets that the server sends.
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

    /// Whether an RTP datagram is waiting.
    var hasDatagram: Bool {
        if let replay { return replay.hasMore }
        var byte: UInt8 = 0
        return unsafe recv(rtp, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK) | Int32(MSG_TRUNC)) >= 0
    }

    private func isFromSender(_ source: SocketAddress?, isControl: Bool) -> Bool {
        guard let sender, let source else { return false }
        let port = isControl ? sender.rtcpPort : sender.rtpPort
        return source.ip?.unmapped == sender.address.unmapped && (port == 0 || group != nil || source.port == port)
    }

    /// Sends a datagram to the server's port, if the port is known, or a report to the group. Never blocks.
    func send(_ bytes: [UInt8], isControl: Bool) {
        guard let target = target(isControl: isControl) else { return }
        _ = unsafe target.withSocketAddress { address, length in
            unsafe sendto(
                isControl ? rtcp : rtp, bytes, bytes.count,
                Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), address, length)
        }
    }

    private func target(isControl: Bool) -> SocketAddress? {
        if let group { return isControl ? group : nil }
        guard let sender else { return nil }
        let port = isControl ? sender.rtcpPort : sender.rtpPort
        return port > 0 ? SocketAddress(sender.address, port: port) : nil
    }

    private static func open(_ address: IPAddress, port: UInt16) throws(InletError) -> Int32 {
        let family = address.bytes.count == 4 ? AF_INET : AF_INET6
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, Int32(IPPROTO_UDP))
        guard descriptor >= 0 else { throw SocketError.error(errno, operation: "socket") }
        SocketOption.set(descriptor, SOL_SOCKET, SO_RCVBUF, bufferSize)
        // Allows several receivers of a group on one machine.
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
}

/// Owns the memory of one datagram, of the largest size in UDP.
@safe private final class DatagramMemory {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 64)

    deinit { unsafe memory.deallocate() }
}
