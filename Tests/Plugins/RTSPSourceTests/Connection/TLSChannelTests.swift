import Foundation
import InletCore
import InletFFmpeg
import InletNetwork
import ReferenceTools
import Testing

@testable import RTSPSource

extension RTSPSourceTests {
    /// TLS with a server that goes away.
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct TLSChannelTests {
        /// Connects, ends the server, and waits until the system knows that it has gone.
        private func abandoned() throws -> TLSChannel {
            var options = RTSPServer.Options()
            options.isTLS = true
            let server = try RTSPServer(options)
            let address = try #require(IPAddress(literal: "127.0.0.1"))
            let socket = try TCPChannel(connectingTo: SocketAddress(address, port: UInt16(server.port)))
            try wait(socket.descriptor, POLLOUT)
            let channel = try TLSChannel(socket, host: "127.0.0.1", TLSSettings(verifies: false))
            while !channel.canSend {
                try wait(channel.descriptor, channel.wantsOutput ? POLLOUT : POLLIN)
                try channel.flush()
            }
            server.stop()
            // The first write is answered by a reset.
            _ = unsafe send(channel.descriptor, "x", 1, Int32(MSG_NOSIGNAL))
            try wait(channel.descriptor, POLLHUP)
            return channel
        }

        private func wait(_ descriptor: Int32, _ events: Int32) throws {
            var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let end = ContinuousClock.now + .seconds(20)
            while unsafe poll(&polled, 1, 1000) <= 0 || Int32(polled.revents) & (events | POLLERR) == 0 {
                try #require(ContinuousClock.now < end, "nothing happens to the connection")
                usleep(10_000)
            }
        }

        /// Whether a call raises SIGPIPE, which would end the process.
        private func raisesSignal(_ call: () -> Void) -> Bool {
            var (signals, before, pending) = (sigset_t(), sigset_t(), sigset_t())
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, SIGPIPE)
            unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
            call()
            unsafe sigpending(&pending)
            let isRaised = unsafe sigismember(&pending, SIGPIPE) == 1
            var number: Int32 = 0
            if isRaised { unsafe sigwait(&signals, &number) }
            unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
            return isRaised
        }

        @Test("A write to a server that has gone is an error, and raises no signal")
        func write() throws {
            let channel = try abandoned()
            let isRaised = raisesSignal {
                let error = #expect(throws: InletError.self) {
                    // One of several writes, because the first may only learn of the reset.
                    for _ in 0..<3 { _ = unsafe try [UInt8](repeating: 0, count: 100).withUnsafeBytes(channel.write) }
                }
                #expect(error?.code == .disconnected)
            }
            #expect(!isRaised)
        }

        @Test("The end of a connection whose server has gone raises no signal")
        func end() throws {
            var channel: TLSChannel? = try abandoned()
            let isRaised = raisesSignal { channel = nil }
            #expect(!isRaised && channel == nil)
        }

        @Test("A write without protection would raise the signal, so that these tests can fail")
        func control() throws {
            let channel = try abandoned()
            #expect(
                raisesSignal {
                    for _ in 0..<3 { _ = unsafe send(channel.descriptor, "x", 1, 0) }
                })
        }
    }
}
