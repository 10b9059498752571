import Glibc
import InletCore
import InletFFmpeg
import Testing

@testable import RTSPSource

/// When the system shows what has arrived on a TCP connection, with the system itself as the judge.
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

    private func isShown(_ channel: TCPChannel, within milliseconds: Int32) -> Bool {
        var polled = pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&polled, 1, milliseconds) > 0
    }

    private func send(_ count: Int, to peer: Int32) throws {
        let bytes = [UInt8](repeating: 0x24, count: count)
        try #require(unsafe Glibc.send(peer, bytes, count, Int32(MSG_NOSIGNAL)) == count)
    }

    private func read(_ channel: TCPChannel) throws -> ReadOutcome {
        var bytes = [UInt8](repeating: 0, count: 100)
        return unsafe try bytes.withUnsafeMutableBytes { target in unsafe try channel.read(into: target) }
    }

    @Test("Fewer bytes than are asked for are not shown, but read with those that follow, or at the end")
    func leastInput() throws {
        let (channel, peer) = try connected()
        defer { close(peer) }
        channel.setLeastInput(20)
        try send(18, to: peer)
        #expect(!isShown(channel, within: 200))
        try send(2, to: peer)
        #expect(isShown(channel, within: 10_000))
        #expect(try read(channel) == .bytes(20))
        try send(3, to: peer)
        #expect(!isShown(channel, within: 200))
        channel.setLeastInput(1)
        #expect(isShown(channel, within: 10_000))
        #expect(try read(channel) == .bytes(3))
        channel.setLeastInput(20)
        try send(5, to: peer)
        shutdown(peer, Int32(SHUT_WR))
        #expect(isShown(channel, within: 10_000))
        #expect(try read(channel) == .bytes(5))
        #expect(try read(channel) == .ended)
    }
}
