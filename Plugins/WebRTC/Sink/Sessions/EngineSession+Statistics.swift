import InletCore
import InletRTC
import Synchronization
import WebRTCEngine

extension EngineSession {
    /// The current statistics. Does not wait for the session's queue, which may be creating a pipeline.
    var statistics: ViewerStatistics {
        var statistics = known.withLock { $0 } ?? ViewerStatistics(viewer: name)
        let packets = packets
        statistics.tier = packets.encoding?.tier
        (statistics.framesSent, statistics.framesDropped) = (packets.sent, packets.dropped)
        return statistics
    }

    /// The counts of all packets of the session: of its current lane in the hub, if there is one, and of earlier
    /// lanes. From any thread.
    var packets: ViewerHub.Figures {
        removedPackets.withLock { removed in
            guard let lane = hub.figures(of: name) else { return removed }
            return removed.adding(lane)
        }
    }

    /// Makes the hub stop sending, and keeps the counts. Does nothing if the hub sends nothing.
    func removeLane() {
        removedPackets.withLock { removed in
            if let lane = hub.remove(name) { removed = removed.adding(lane) }
        }
    }

    /// The current numbers of messages.
    var messageCounts: PeerMessaging.Counts {
        let statistics = known.withLock { $0 }
        var counts = PeerMessaging.Counts()
        counts.received = statistics?.messagesReceived ?? 0
        counts.sent = statistics?.messagesSent ?? 0
        counts.dropped = statistics?.messagesDropped ?? 0
        return counts
    }

    /// The current statistics. On the session's queue.
    var currentStatistics: ViewerStatistics {
        let packets = packets
        return ViewerStatistics(
            viewer: name, state: machine.state, codec: (pipeline ?? environment.pipelines.first)?.codec ?? .h264,
            tier: packets.encoding?.tier, bitrate: steering?.bitrate ?? 0,
            roundTrip: steering?.feedback?.roundTrip, packetsLost: steering?.packetsLost ?? 0,
            keyFrameRequests: keyFrameRequests, framesSent: packets.sent, framesDropped: packets.dropped,
            messagesReceived: channels.figures.received, messagesSent: channels.figures.sent,
            messagesDropped: channels.figures.dropped)
    }
}
