import Glibc
import InletCore
import InletFFmpeg
import InletNetwork
import Testing

@testable import RTSPSource

/// Options of a TCP connection, checked by the state that the kernel reports.
@Suite struct TCPChannelTests {
    /// A connection to this process, and its other end.
    private func connected() throws -> (channel: TCPChannel, peer: Int32) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            let place = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return unsafe bind(listener, place, size) == 0 && listen(listener, 1) == 0
                && getsockname(listener, place, &size) == 0
        }
        try #require(isListening)
        let loopback = try #require(IPAddress(literal: "127.0.0.1"))
        let channel = try TCPChannel(connectingTo: SocketAddress(loopback, port: UInt16(bigEndian: address.sin_port)))
        let peer = accept(listener, nil, nil)
        try #require(peer >= 0)
        return (channel, peer)
    }

    private func send(_ count: Int, to peer: Int32) throws {
        let bytes = [UInt8](repeating: 0x24, count: count)
        try #require(unsafe Glibc.send(peer, bytes, count, Int32(MSG_NOSIGNAL)) == count)
    }

    private func read(_ channel: TCPChannel) throws -> ReadOutcome {
        var bytes = [UInt8](repeating: 0, count: 100)
        return unsafe try bytes.withUnsafeMutableBytes { target in unsafe try channel.read(into: target) }
    }

    /// Returns the number of packets that the channel's system has not acknowledged to the peer; see tcp(7).
    private func unacknowledged(of peer: Int32) throws -> UInt32 {
        var info = tcp_info()
        var size = socklen_t(MemoryLayout<tcp_info>.size)
        try #require(unsafe getsockopt(peer, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0)
        return info.tcpi_unacked
    }

    @Test("Received data is acknowledged as soon as it is read, even when this side has just sent something")
    func acknowledged() throws {
        let (channel, peer) = try connected()
        defer { close(peer) }
        let rounds = 20
        var prompt = 0
        for _ in 0..<rounds {
            // For example a receiver report, after which Linux delays acknowledgements.
            let report = [UInt8](repeating: 0, count: 52)
            #expect(unsafe try report.withUnsafeBytes { unsafe try channel.write($0) } == report.count)
            var received = report
            #expect(unsafe recv(peer, &received, report.count, Int32(MSG_WAITALL)) == report.count)
            try send(18, to: peer)
            #expect(try read(channel) == .bytes(18))
            if try unacknowledged(of: peer) == 0 { prompt += 1 }
        }
        // A busy system may process an acknowledgement a little later, but not delay it each time.
        #expect(prompt > rounds / 2, "\(prompt) of \(rounds)")
    }
}
