import InletCore
package import InletRTC

/// Answers this server's own pages over data channels of a separate protocol, which are not reported to the
/// application.
package protocol PageMessages: Sendable {
    /// The protocol of the channels.
    var subprotocol: String { get }
    /// The message that pages get at each change.
    var state: String { get }
    /// Returns the reply to a message; nil if it needs no reply.
    func reply(to text: String) -> String?
}

/// The data channels of one session, within their limits. Confined to the session's queue.
package final class PeerChannels {
    /// A notification for the application about its channels.
    package enum News: Sendable {
        case opened(DataChannelParameters)
        case closed(DataChannelParameters)
        case drained(DataChannelParameters)
        case said(PeerMessage)
    }

    package private(set) var figures = PeerMessaging.Counts()
    /// The most bytes of a message that the peer accepts; nil if it accepts any.
    package var longestAccepted: Int?
    private var news: [News] = []
    /// The identifiers of the channels that can send.
    private var open: Set<UInt> = []
    private let peer: String
    private let limits: DataChannelLimits
    private let page: (any PageMessages)?
    private var channels: [DataChannel] = []

    /// - Parameters:
    ///   - peer: the session's name.
    ///   - page: answers the requests of this server's pages; nil if they have none.
    package init(of peer: String, limits: DataChannelLimits, page: (any PageMessages)? = nil) {
        self.peer = peer
        self.limits = limits
        self.page = page
    }

    private func isOfPage(_ channel: DataChannel) -> Bool {
        page.map { $0.subprotocol.utf8.elementsEqual(channel.subprotocol.utf8) } ?? false
    }

    /// Adds a channel that either side opened.
    package func add(_ channel: DataChannel) {
        guard channels.count < limits.channels, channel.label.utf8.count <= limits.labelBytes,
            channel.subprotocol.utf8.count <= limits.labelBytes
        else { return channel.close() }
        channels.append(channel)
        if channel.isOpen { noteOpen(channel) }
    }

    private func noteOpen(_ channel: DataChannel) {
        guard open.insert(channel.id).inserted, !isOfPage(channel) else { return }
        news.append(.opened(channel.parameters))
    }

    private func remove(_ channel: DataChannel) {
        channels.removeAll { $0.id == channel.id }
        guard open.remove(channel.id) != nil, !isOfPage(channel) else { return }
        news.append(.closed(channel.parameters))
    }

    /// Returns the notifications since the last call, in order.
    package func takeNews() -> [News] {
        defer { news = [] }
        return news
    }

    /// Handles an event of a channel.
    package func handle(_ event: DataChannel.Event, from id: UInt) {
        guard let channel = channels.first(where: { $0.id == id }) else { return }
        switch event {
        case .opened: noteOpen(channel)
        case .failed: break
        case .closed: remove(channel)
        case .tooLong: drop(channel)
        case .drained:
            if open.contains(id), !isOfPage(channel) {
                news.append(.drained(channel.parameters))
            }
        case .received(let body):
            figures.received += 1
            if !isOfPage(channel) {
                news.append(.said(PeerMessage(peer: peer, channel: channel.label, body: body)))
            } else if case .text(let text) = body, let reply = page?.reply(to: text) {
                hand(.text(reply), to: channel)
            }
        }
    }

    /// Sends over the application's channel for this delivery.
    package func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) {
        let named = channels.filter { !isOfPage($0) && label ?? $0.label == $0.label }
        guard let index = delivery.index(among: named.map(\.delivery)) else { return figures.dropped += 1 }
        hand(body, to: named[index])
    }

    /// Sends the track's state to pages of this server.
    ///
    /// - Returns: whether any pages are connected.
    @discardableResult
    package func tellPages() -> Bool {
        guard let page else { return false }
        let pages = channels.filter { isOfPage($0) }
        for channel in pages { hand(.text(page.state), to: channel) }
        return !pages.isEmpty
    }

    private func hand(_ body: PeerMessage.Body, to channel: DataChannel) {
        // Too long for this peer, although others may get it. The channel stays open: the limit is the peer's.
        guard body.count <= longestAccepted ?? body.count else { return figures.dropped += 1 }
        guard body.count <= limits.queuedBytes, channel.queued <= limits.queuedBytes - body.count else {
            figures.dropped += 1
            // A channel that loses nothing would have a gap.
            if channel.delivery.losesNothing { drop(channel) }
            return
        }
        if channel.send(body) { figures.sent += 1 } else { figures.dropped += 1 }
    }

    private func drop(_ channel: DataChannel) {
        remove(channel)
        channel.close()
    }

    /// Removes all channels.
    package func removeAll() { for channel in channels { remove(channel) } }
}
