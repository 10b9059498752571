import Glibc
import InletCore
import InletFFmpeg
import InletNetwork
import InletRTSP

/// Sends one request of an ``ONVIFSession`` over a new connection and waits for the response, on the calling thread.
struct ONVIFExchange {
    let wait: DescriptorWait
    let tls: TLSSettings
    let policy: AddressPolicy
    /// The address that the user configured. Its host may have any address.
    let device: RTSPURL
    /// The most public address of the connections since the last one to the user's device. It determines the permitted
    /// redirects; nil before the first connection.
    private(set) var leader: IPAddress?

    /// Performs the exchange.
    ///
    /// - Parameter end: the time limit.
    /// - Throws: errors of ``HostConnection``, ``TLSChannel`` and ``HTTPResponseReader``; ``InletError/Code/cancelled``
    ///   once the context of `wait` is cancelled.
    mutating func perform(
        _ exchange: ONVIFSession.Exchange, until end: MonotonicTime
    ) throws(InletError) -> RTSPResponse {
        let host = String(decoding: exchange.url.host, as: UTF8.self)
        let (policy, leader) = (policy, leader)
        let isDevice = exchange.url.isSameHost(as: device)
        let way = HostConnection(
            host: String(decoding: exchange.url.hostWithZone, as: UTF8.self), port: exchange.url.tunnelPort
        ) { isDevice || policy.allows($0, from: leader) }
        let (socket, _) = try way.connect(until: end, wait)
        if let remote = socket.remoteAddress?.ip {
            if isDevice || leader.map({ remote.space < $0.space }) ?? true { self.leader = remote }
        }
        let channel = try DialedChannel(socket, Dialing(socket, host: host, tls: exchange.url.isSecure ? tls : nil))
        try channel.send { $0 += exchange.bytes }
        return try answer(on: channel, until: end)
    }

    private func answer(on channel: DialedChannel, until end: MonotonicTime) throws(InletError) -> RTSPResponse {
        var reader = HTTPResponseReader()
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            try wait.context.checkCancellation()
            guard wait.clock.now < end else {
                throw InletError(.timedOut, "The ONVIF device did not answer in time. \(HostConnection.advice)")
            }
            var response: RTSPResponse?
            let outcome = try channel.read(into: &buffer) { bytes throws(InletError) in
                response = try reader.receive(bytes)
            }
            if let response { return response }
            switch outcome {
            case .bytes: break
            case .ended: return try reader.ended()
            case .wouldBlock:
                let events = Int16(POLLIN) | (channel.wantsOutput ? Int16(POLLOUT) : 0)
                if !channel.hasBuffered { _ = try wait.wait(for: [(channel.descriptor, events)], until: end) }
                try channel.flush()
            }
        }
    }
}
