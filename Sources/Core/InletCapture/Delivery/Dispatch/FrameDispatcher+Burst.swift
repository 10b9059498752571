import InletCore
import Synchronization

/// The packets with which a server begins: see ``PacketBurst``.
extension FrameDispatcher {
    /// Sets what holds the packets of a session from now on; nil lets them through.
    func hold(_ burst: PacketBurst?, _ state: inout State) {
        state.burst = burst
        holdsPackets.store(burst != nil, ordering: .relaxed)
    }

    /// Holds a packet of the session's beginning.
    ///
    /// - Returns: the packets to deliver now; nil if the session holds none.
    func hold(_ packet: SourcePacket, from session: SessionID) -> [SourcePacket]? {
        state.withLock { state in
            guard state.session == session, session > state.givenUp, state.burst != nil else { return nil }
            guard let packets = state.burst?.add(packet, at: clock.now) else { return [] }
            hold(nil, &state)
            return packets
        }
    }

    /// Delivers packets that were held.
    ///
    /// - Parameter startsAnew: whether the first packet's time does not show how long ago the previous one was.
    func deliver(
        _ packets: [SourcePacket], from session: SessionID, startsAnew: Bool, _ isCancelled: () -> Bool
    ) -> Result {
        var startsAnew = startsAnew
        for packet in packets {
            let result = deliverNow(.packet(packet), from: session, startsAnew: startsAnew, isCancelled)
            guard case .goOn = result else { return result }
            startsAnew = false
        }
        return .goOn
    }

    /// Takes the packets that are held, at the end of a session. Blocks as `deliver` does.
    func deliverHeld(from session: SessionID, isCancelled: () -> Bool) {
        let packets = state.withLock { state -> [SourcePacket] in
            guard state.session == session, var burst = state.burst else { return [] }
            hold(nil, &state)
            return burst.end()
        }
        _ = deliver(packets, from: session, startsAnew: false, isCancelled)
    }
}
