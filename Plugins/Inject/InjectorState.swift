import DequeModule
public import InletCore

/// Decides which items an injector keeps, drops and yields, without a clock, a lock or a thread.
struct InjectorState: Sendable {
    /// The effects of a push.
    struct Push: Sendable {
        var outcome = InjectorOutcome.queued
        /// The replaced item. The caller releases it without holding a lock, because owners run code of the
        /// application.
        var evicted: SourceItem?
        var others: [SourceItem] = []
        /// The number of dropped items, and the reason.
        var evictions: UInt64 { (evicted == nil ? 0 : 1) + UInt64(others.count) }
        var reason = DropReason.superseded
        /// Whether the caller must wake a reader.
        var wakesReader = false
        /// Whether the picture was not queued, because the pusher must pass it to the sinks on behalf of the reader
        /// and then call ``InjectorState/handedOver(_:bytes:taken:)``.
        var isForHandOver = false
    }

    /// The next step of a reader.
    enum Turn: Sendable {
        case item(SourceItem)
        case ended
        case failed(InletError)
        /// Nothing is queued. The reader is woken when that changes.
        case empty(interruption: String?)
    }

    private let queue: InjectorQueue
    private let maximumBytes: Int
    private var items: Deque<(item: SourceItem, bytes: Int)> = []
    private var isEnded = false
    private var failure: InletError?
    private var muteReason: String?
    private var interruption: String?
    private(set) var isPaused = false
    private var isReaderWaiting = false
    /// Whether a pusher is passing on a picture on behalf of the reader, which waits until that is done.
    private var isHandingOver = false
    /// The time of the latest picture that was accepted or repeated.
    private var newest: MediaTime?
    private var thinning = RateThinning()
    /// Whether packets were dropped, so that all packets up to the next key frame are useless.
    private var awaitsKeyFrame = false
    private var hasLoss = false
    private(set) var maximumSize: ImageSize?
    private(set) var maximumFrameRate: Rational?
    var keyFrameRequests = 0
    private(set) var statistics = InjectorStatistics()

    init(_ configuration: InjectorConfiguration) {
        queue = configuration.queue
        maximumBytes = configuration.maximumBytes
        items.reserveCapacity(min(queue.capacity, 64))
    }

    var isMuted: Bool { muteReason != nil }

    // MARK: Pushing

    /// Accepts or drops a checked item.
    ///
    /// - Parameters:
    ///   - bytes: the memory that the item keeps in use.
    ///   - now: the time of the push, for items without a PTS.
    ///   - handsOver: whether the pusher may pass on a picture for which the reader is waiting.
    mutating func push(
        _ item: SourceItem, bytes: Int, at now: MonotonicTime, handsOver: Bool = false
    ) -> Push {
        statistics.pushed &+= 1
        if let reason = rejection(of: item, at: now) { return drop(reason) }
        var push = Push()
        switch item {
        case .frame(let frame):
            guard makeRoom(for: bytes, &push) else { return drop(.queueFull) }
            if let pts = frame.pts { newest = pts }
            if handsOver, isReaderIdle {
                isHandingOver = true
                push.isForHandOver = true
                return push
            }
            append(item, bytes)
        case .packet(var packet):
            guard !awaitsKeyFrame || packet.isKey else { return drop(.queueFull) }
            guard items.count < queue.capacity, statistics.queuedBytes + bytes <= maximumBytes else {
                if !awaitsKeyFrame { keyFrameRequests &+= 1 }
                (awaitsKeyFrame, hasLoss) = (true, true)
                return drop(.queueFull)
            }
            if hasLoss { packet.flags.insert(.loss) }
            (awaitsKeyFrame, hasLoss) = (false, false)
            append(.packet(packet), bytes)
        }
        interruption = nil
        push.wakesReader = takeWaiting()
        return push
    }

    /// Whether a reader is waiting for a picture and no interruption has been reported to it.
    private var isReaderIdle: Bool {
        isReaderWaiting && !isHandingOver && items.isEmpty && interruption == nil && failure == nil
    }

    /// Records that a picture has been passed on, or that the reader itself must deliver it: then it is queued, before
    /// items that were pushed meanwhile.
    mutating func handedOver(_ item: SourceItem, bytes: Int, taken: Bool) -> Push {
        isHandingOver = false
        var push = Push()
        if taken {
            statistics.delivered &+= 1
            statistics.handedOver &+= 1
        } else if items.isEmpty || (items.count < queue.capacity && statistics.queuedBytes + bytes <= maximumBytes) {
            items.prepend((item, bytes))
            statistics.queuedBytes += bytes
        } else {
            push = drop(queue == .latest ? .superseded : .queueFull)
        }
        let hasNews = !items.isEmpty || isEnded || failure != nil || muteReason != nil || interruption != nil
        push.wakesReader = hasNews && takeWaiting()
        return push
    }

    private func isTooEarly(_ frame: SourceFrame) -> Bool {
        guard let pts = frame.pts, let newest, !frame.flags.contains(.discontinuity) else { return false }
        return pts < newest
    }

    private mutating func rejection(of item: SourceItem, at now: MonotonicTime) -> DropReason? {
        if isEnded { return .injectorEnded }
        if isMuted || isPaused {
            if case .packet = item { (awaitsKeyFrame, hasLoss) = (true, true) }
            return .disabled
        }
        guard case .frame(let frame) = item else { return nil }
        if isTooEarly(frame) { return .outOfOrder }
        // Without a limit the PTS need not be converted.
        guard thinning.interval > 0 else { return nil }
        return thinning.admits(frame.pts?.nanoseconds ?? now.nanoseconds) ? nil : .rateLimited
    }

    private mutating func drop(_ reason: DropReason) -> Push {
        statistics.dropped[reason, default: 0] &+= 1
        return Push(outcome: .dropped(reason))
    }

    /// Removes the items that a picture replaces; returns false if the picture itself is dropped.
    private mutating func makeRoom(for bytes: Int, _ push: inout Push) -> Bool {
        if case .bounded(_, .newest) = queue {
            return items.count < queue.capacity && statistics.queuedBytes + bytes <= maximumBytes
        }
        if case .bounded = queue { push.reason = .queueFull }
        while let oldest = items.first,
            items.count >= queue.capacity || statistics.queuedBytes + bytes > maximumBytes
        {
            items.removeFirst()
            statistics.queuedBytes -= oldest.bytes
            if push.evicted == nil { push.evicted = oldest.item } else { push.others.append(oldest.item) }
        }
        if push.evictions > 0 { statistics.dropped[push.reason, default: 0] &+= push.evictions }
        return true
    }

    private mutating func append(_ item: SourceItem, _ bytes: Int) {
        items.append((item, bytes))
        statistics.queuedBytes += bytes
    }

    mutating func noteRefusal() { statistics.refused &+= 1 }

    mutating func noteCopy() { statistics.copied &+= 1 }

    mutating func noteExhaustion() {
        statistics.pushed &+= 1
        statistics.dropped[.poolExhausted, default: 0] &+= 1
    }

    /// Returns whether a reader is waiting and must be woken, and counts it as awake from now on. It is not woken
    /// while a picture is handed over, but afterwards if an item is queued.
    private mutating func takeWaiting() -> Bool {
        guard !isHandingOver else { return false }
        defer { isReaderWaiting = false }
        return isReaderWaiting
    }

    // MARK: Control. Each method returns whether a reader must be woken.

    /// Ends the stream after the queued items.
    mutating func end() -> Bool {
        isEnded = true
        return takeWaiting()
    }

    /// Makes the reader fail after the queued items. Until a reader has thrown it, the first error counts.
    mutating func fail(_ error: InletError) -> Bool {
        guard !isEnded else { return false }
        failure = failure ?? error
        return takeWaiting()
    }

    mutating func setMuted(_ reason: String?) -> Bool {
        muteReason = reason
        return takeWaiting()
    }

    mutating func setInterruption(_ reason: String?) -> Bool {
        interruption = reason
        return takeWaiting()
    }

    mutating func adapt(maximumSize: ImageSize?, maximumFrameRate: Rational?) {
        self.maximumSize = maximumSize
        guard maximumFrameRate != self.maximumFrameRate else { return }
        self.maximumFrameRate = maximumFrameRate
        thinning.setRate(maximumFrameRate)
    }

    // MARK: The reader

    mutating func noteOpening() {
        statistics.sources += 1
        isPaused = false
    }

    mutating func noteClosing() { (isPaused, isReaderWaiting) = (false, false) }

    mutating func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

    /// Returns the first item, which stays in the queue. If the queue is empty, waits as ``take()`` does.
    mutating func peek() -> Turn {
        guard !isHandingOver, let first = items.first else { return idle() }
        return .item(first.item)
    }

    /// Removes and returns the next item of the queue.
    mutating func take() -> Turn {
        guard !isHandingOver, let first = items.popFirst() else { return idle() }
        statistics.queuedBytes -= first.bytes
        statistics.delivered &+= 1
        return .item(first.item)
    }

    private mutating func idle() -> Turn {
        // A picture that is being handed over comes before these.
        if !isHandingOver {
            if let error = failure {
                failure = nil
                return .failed(error)
            }
            if isEnded { return .ended }
        }
        isReaderWaiting = true
        return .empty(interruption: muteReason ?? interruption)
    }

    /// Records that a picture is repeated at that time, so that later pushes must not have an earlier time.
    ///
    /// - Returns: false if an item is queued, which must be delivered instead.
    mutating func repeats(at time: MediaTime?) -> Bool {
        guard items.isEmpty else { return false }
        statistics.repeated &+= 1
        if let time { newest = time }
        return true
    }

    /// The statistics, including the queued items.
    var figures: InjectorStatistics {
        var figures = statistics
        figures.queued = items.count
        return figures
    }
}

extension DropReason {
    /// The item was pushed after the injector had ended.
    public static let injectorEnded = DropReason("injectorEnded")
}
