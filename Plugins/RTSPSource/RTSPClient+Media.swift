import InletCore
import InletFFmpeg
import InletRTP
import InletRTSP

/// How what the server has agreed to send is received.
extension RTSPClient {
    func openPorts(until end: MonotonicTime) throws(InletError) {
        let event: RTSPSession.Event
        do throws(InletError) {
            let opened: MediaSockets
            if let replay {
                opened = MediaSockets(replaying: replay)
            } else {
                guard let local else { throw InletError(.internal, "The connection has no address.") }
                opened = try MediaSockets(local: local)
            }
            sockets = opened
            event = .portsOpened(TransportHeader.Pair(Int(opened.port), Int(opened.port) + 1))
        } catch {
            event = .portsUnavailable(error)
        }
        try perform(session.handle(event, at: now), until: end)
    }

    /// Prepares for the packets of the stream.
    func begin(_ established: RTSPSession.Established) throws(InletError) {
        let (video, transport) = (established.video, established.transport)
        self.established = established
        let stream = try MediaStream(
            established, configuration, at: now, hostTime: { [replay] in replay?.hostTime ?? HostTime.now })
        self.stream = stream
        hasMedia = false
        connection?.parser.settings.knownChannels = established.channels
        connection?.parser.settings.knownPayloadTypes = Set(video.payloadTypes)
        if let replay { sockets = transport.delivery == .tcp ? nil : MediaSockets(replaying: replay) }
        guard let remote, let local else { return }
        switch transport.delivery {
        case .tcp: sockets = nil
        case .unicast:
            let server = transport.serverPorts
            sockets?.accept(
                from: sender(transport.source) ?? remote, rtpPort: Self.port(server?.rtp),
                rtcpPort: Self.port(server?.rtcp))
            let (rtp, rtcp) = stream.openers(payloadType: video.payloadType)
            sockets?.send(rtp, isControl: false)
            sockets?.send(rtcp, isControl: true)
        case .multicast:
            guard let group = transport.destination.flatMap({ IPAddress(literal: String(decoding: $0, as: UTF8.self)) })
            else { throw InletError(.malformedData, "The server names no multicast group. Try transport=tcp.") }
            let joined = try MediaSockets(
                joining: group, rtpPort: Self.port(transport.ports?.rtp), rtcpPort: Self.port(transport.ports?.rtcp),
                local: local)
            joined.accept(from: sender(transport.source) ?? remote, rtpPort: 0, rtcpPort: 0)
            sockets = joined
        }
    }

    /// The address that the server names as the sender, if it may lead there.
    private func sender(_ text: [UInt8]?) -> IPAddress? {
        guard let address = text.flatMap({ IPAddress(literal: String(decoding: $0, as: UTF8.self)) }),
            address.space != .multicast, configuration.addressPolicy.allows(address, from: leader)
        else { return nil }
        return address
    }

    /// A port; 0, which is any, for one that cannot be: cameras answer `0-1`.
    private static func port(_ number: Int?) -> UInt16 {
        guard let number, number > 1 else { return 0 }
        return UInt16(exactly: number) ?? 0
    }
}
