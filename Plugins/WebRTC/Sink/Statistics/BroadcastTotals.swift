import InletRTC

/// The totals over all viewers so far, including those that left, for monitoring. They contain no names, so they
/// do not grow with the number of viewers.
struct BroadcastTotals: Sendable, Hashable {
    var joined = 0
    /// The number of ended sessions by reason.
    var ended: [Reason: Int] = [:]
    /// The counts of ended sessions.
    var past = Counts()

    /// The reason for a session's end, in one word.
    enum Reason: String, Sendable, CaseIterable { case local, remote, declined, timedOut, failed }

    struct Counts: Sendable, Hashable {
        var framesSent = 0
        var framesDropped = 0
        var packetsLost = 0
        var keyFrameRequests = 0
        var messagesReceived = 0
        var messagesSent = 0
        var messagesDropped = 0

        mutating func add(_ viewer: ViewerStatistics) {
            framesSent += viewer.framesSent
            framesDropped += viewer.framesDropped
            packetsLost += viewer.packetsLost
            keyFrameRequests += viewer.keyFrameRequests
            messagesReceived += viewer.messagesReceived
            messagesSent += viewer.messagesSent
            messagesDropped += viewer.messagesDropped
        }
    }

    mutating func add(_ event: ViewerEvent) {
        switch event {
        case .joined: joined += 1
        case .reported, .channelOpened, .channelClosed, .channelDrained: break
        case .left(let viewer, let end):
            ended[Reason(end), default: 0] += 1
            past.add(viewer)
        }
    }
}

extension BroadcastTotals.Reason {
    init(_ end: PeerSessionEnd) {
        self =
            switch end {
            case .local: .local
            case .remote: .remote
            case .declined: .declined
            case .timedOut: .timedOut
            case .failed: .failed
            }
    }
}
