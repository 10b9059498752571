import InletCore
import InletFFmpeg
import InletNetwork
import InletRTP
import InletRTSP
import InletSystem
import Logging

/// Receiving the media that the server has agreed to send.
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

    /// Prepares to receive the packets of the stream.
    func begin(_ established: RTSPSession.Established) throws(InletError) {
        let (video, transport) = (established.video, established.transport)
        self.established = established
        streamNumber &+= 1
        let stream = try MediaStream(
            established, configuration, at: now, hostTime: { [replay] in replay?.hostTime ?? HostTime.now })
        self.stream = stream
        (hasMedia, isUnreachable) = (false, false)
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
            do throws(InletError) {
                let joined = try MediaSockets(
                    joining: group, rtpPort: Self.port(transport.ports?.rtp),
                    rtcpPort: Self.port(transport.ports?.rtcp), timeToLive: transport.timeToLive, local: local)
                joined.accept(from: sender(transport.source) ?? remote, rtpPort: 0, rtcpPort: 0)
                sockets = joined
            } catch {
                // The session continues with the next transport as soon as the server plays.
                context.logger.notice("Cannot join the multicast group: \(error.message)")
                isUnreachable = true
            }
        }
    }

    /// Continues over TCP because too many packets are lost. If TCP is not allowed, or was tried before, the log and
    /// the statistics state what the operator can change.
    ///
    /// - Returns: whether the transport changes.
    func leaveUDP(until end: MonotonicTime) throws(InletError) -> Bool {
        guard let stream, sockets != nil else { return true }
        let share = stream.figures.lossText ?? "Less than 0.1 %"
        let loss = "\(share) of the packets are lost over \(transportName), so pictures are missing."
        let remedy: ReceptionFigures.LossRemedy? =
            if configuration.transport == .udpOnly {
                .useTCP
            } else if memory?.hasLeftUDP == true || !session.mayContinueOverTCP {
                .improveNetwork
            } else {
                nil
            }
        if let remedy {
            if stream.lossRemedy != remedy { context.logger.warning("\(loss) \(remedy.text)") }
            stream.lossRemedy = remedy
            return false
        }
        context.noteTransportChange("\(loss) Continuing over TCP.")
        memory?.hasLeftUDP = true
        recorder?.lossy(at: now)
        try perform(session.handle(.transportLossy, at: now), until: end)
        return true
    }

    /// The current transport, in readable form.
    var transportName: String {
        switch established?.transport.delivery {
        case .multicast: "multicast"
        case .unicast: "UDP"
        case .tcp, nil: "TCP"
        }
    }

    /// The address that the server names as the sender, if it is permitted.
    private func sender(_ text: [UInt8]?) -> IPAddress? {
        guard var address = text.flatMap({ IPAddress(literal: String(decoding: $0, as: UTF8.self)) }),
            let remote, addresses.allows(sender: address, of: remote)
        else { return nil }
        // A server does not know the names of this machine's interfaces.
        if address.space == .linkLocal { address.zone = remote.zone }
        return address
    }

    /// Returns a port, or 0, for any, if the number is impossible: cameras answer `0-1`.
    private static func port(_ number: Int?) -> UInt16 {
        guard let number, number > 1 else { return 0 }
        return UInt16(exactly: number) ?? 0
    }
}
