#if WebRTC
    import InletCore
    import InletRTC
    import InletWebRTC

    /// The data channels of one session, within their limits. Confined to the session's queue.
    final class PeerChannels {
        /// The counts of messages.
        struct Figures: Sendable {
            var received = 0
            var sent = 0
            var dropped = 0
        }

        /// A notification for the application about its channels.
        enum News: Sendable {
            case opened(DataChannelParameters)
            case closed(DataChannelParameters)
            case drained(DataChannelParameters)
            case said(PeerMessage)
        }

        private(set) var figures = Figures()
        /// The most bytes of a message that the peer accepts; nil if it accepts any.
        var longestAccepted: Int?
        private var news: [News] = []
        /// The identifiers of the channels that can send.
        private var open: Set<UInt> = []
        private let peer: String
        private let limits: DataChannelLimits
        private let page: PageChannel
        private var channels: [DataChannel] = []

        /// - Parameters:
        ///   - peer: the session's name.
        ///   - page: answers the requests of this server's pages.
        init(of peer: String, limits: DataChannelLimits, page: PageChannel) {
            self.peer = peer
            self.limits = limits
            self.page = page
        }

        /// Adds a channel that either side opened.
        func add(_ channel: DataChannel) {
            guard channels.count < limits.channels, channel.label.utf8.count <= limits.labelBytes,
                channel.subprotocol.utf8.count <= limits.labelBytes
            else { return channel.close() }
            channels.append(channel)
            if channel.isOpen { noteOpen(channel) }
        }

        private func noteOpen(_ channel: DataChannel) {
            guard open.insert(channel.id).inserted, channel.subprotocol != PageChannel.name else { return }
            news.append(.opened(channel.parameters))
        }

        private func remove(_ channel: DataChannel) {
            channels.removeAll { $0.id == channel.id }
            guard open.remove(channel.id) != nil, channel.subprotocol != PageChannel.name else { return }
            news.append(.closed(channel.parameters))
        }

        /// Returns the notifications since the last call, in order.
        func takeNews() -> [News] {
            defer { news = [] }
            return news
        }

        /// Handles an event of a channel.
        func handle(_ event: DataChannel.Event, from id: UInt) {
            guard let channel = channels.first(where: { $0.id == id }) else { return }
            switch event {
            case .opened: noteOpen(channel)
            case .failed: break
            case .closed: remove(channel)
            case .tooLong: drop(channel)
            case .drained:
                if open.contains(id), channel.subprotocol != PageChannel.name {
                    news.append(.drained(channel.parameters))
                }
            case .received(let body):
                figures.received += 1
                if channel.subprotocol != PageChannel.name {
                    news.append(.said(PeerMessage(peer: peer, channel: channel.label, body: body)))
                } else if case .text(let text) = body, let reply = page.reply(to: text) {
                    hand(.text(reply), to: channel)
                }
            }
        }

        /// Sends over that of the application's channels which is the one for this delivery.
        func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?) {
            let named = channels.filter { $0.subprotocol != PageChannel.name && label ?? $0.label == $0.label }
            guard let index = delivery.index(among: named.map(\.delivery)) else { return figures.dropped += 1 }
            hand(body, to: named[index])
        }

        /// Sends the track's state to pages of this server.
        ///
        /// - Returns: whether there are any.
        @discardableResult
        func tellPages() -> Bool {
            let pages = channels.filter { $0.subprotocol == PageChannel.name }
            for channel in pages { hand(.text(page.state), to: channel) }
            return !pages.isEmpty
        }

        private func hand(_ body: PeerMessage.Body, to channel: DataChannel) {
            // Which others are sent, so that the channel has no gap of this side's making.
            guard body.count <= longestAccepted ?? body.count else { return figures.dropped += 1 }
            guard body.count <= limits.queuedBytes, channel.queued <= limits.queuedBytes - body.count else {
                figures.dropped += 1
                // What loses nothing would have a gap.
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
        func removeAll() { for channel in channels { remove(channel) } }
    }
#endif
