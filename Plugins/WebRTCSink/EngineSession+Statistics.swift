#if WebRTC
    import InletCore
    import InletRTC
    import InletWebRTC
    import Synchronization

    extension EngineSession {
        /// The current statistics. Does not wait for the session's queue, which may be creating a pipeline.
        var statistics: ViewerStatistics {
            var statistics = known.withLock { $0 } ?? ViewerStatistics(viewer: name)
            if let packets = hub.figures(of: name) {
                statistics.tier = packets.encoding?.tier
                (statistics.framesSent, statistics.framesDropped) = (packets.sent, packets.dropped)
            }
            return statistics
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

        /// The statistics now. On the session's queue.
        var currentStatistics: ViewerStatistics {
            let packets = hub.figures(of: name) ?? lastPackets
            return ViewerStatistics(
                viewer: name, state: machine.state, codec: (pipeline ?? environment.pipelines.first)?.codec ?? .h264,
                tier: packets.encoding?.tier, bitrate: steering?.bitrate ?? 0,
                roundTrip: steering?.feedback?.roundTrip, packetsLost: steering?.packetsLost ?? 0,
                keyFrameRequests: keyFrameRequests, framesSent: packets.sent, framesDropped: packets.dropped,
                messagesReceived: channels.figures.received, messagesSent: channels.figures.sent,
                messagesDropped: channels.figures.dropped)
        }
    }
#endif
