import CLinux
import Glibc
package import InletCore

// Unsafe: receives messages of the kernel through a socket.
/// Owns a socket of rtnetlink, on which the kernel reports links, addresses and routes. Never waits. For one thread
/// at a time.
@safe package final class RoutingSocket {
    /// The descriptor, readable when the kernel has sent a message. Valid while this object lives.
    package let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    /// The most datagrams that are read at once.
    private static let most = 256

    /// - Parameter hears: whether the kernel reports changes by itself.
    /// - Throws: ``InletError/Code/unsupported`` if the system gives no such socket, as in some sandboxes.
    package init(hears: Bool) throws(InletError) {
        descriptor = inlet_routing_socket(hears ? 1 : 0)
        guard descriptor >= 0 else {
            throw InletError(
                .unsupported, "The kernel's messages about the network cannot be read here.",
                context: .init(operation: "socket(AF_NETLINK)", nativeCode: errno))
        }
    }

    deinit { close(descriptor) }

    /// Reads all waiting messages, without waiting for more.
    ///
    /// - Returns: the messages; with ``RoutingMessage/overrun`` among them if some were lost.
    package func read() -> [RoutingMessage] {
        var messages: [RoutingMessage] = []
        for _ in 0..<Self.most {
            guard let next = readNext() else { return messages }
            messages += next
        }
        return messages + [.overrun]
    }

    /// Returns the messages of the next datagram; nil if none waits.
    private func readNext() -> [RoutingMessage]? {
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe inlet_routing_receive(descriptor, $0.baseAddress, $0.count)
        }
        if count >= 0 { return RoutingMessage.read(buffer[..<count]) }
        switch errno {
        case EINTR: return []
        case ENOBUFS, EMSGSIZE: return [.overrun]
        default: return nil
        }
    }

    /// Requests the current state of the network.
    ///
    /// - Returns: nil if the kernel does not answer.
    package func view() -> NetworkView? {
        guard inlet_routing_ask_all(descriptor, 0) == 0, let links = answers(),
            inlet_routing_ask_all(descriptor, 1) == 0, let addresses = answers()
        else { return nil }
        var view = NetworkView(links: links, addresses: addresses)
        // Addresses for documentation (RFC 5737, RFC 3849), to which only a default route leads.
        view.route4 = route(to: [192, 0, 2, 1])
        view.route6 = route(to: [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1])
        return view
    }

    private func route(to address: [UInt8]) -> NetworkView.Route? {
        guard unsafe inlet_routing_ask_route(descriptor, address, Int32(address.count)) == 0 else { return nil }
        // There is one answer: a route, or an error if none exists.
        for message in readNext() ?? [] { if case .route(let route, _) = message { return route } }
        return nil
    }

    /// Returns the messages of a list; nil if it does not end.
    private func answers() -> [RoutingMessage]? {
        var messages: [RoutingMessage] = []
        for _ in 0..<Self.most {
            guard let next = readNext() else { return nil }
            for message in next {
                switch message {
                case .done: return messages
                case .failed, .overrun: return nil
                default: messages.append(message)
                }
            }
        }
        return nil
    }
}
