/// Decides which pictures of H.265 can be decoded in spite of losses.
///
/// Each picture lists the order counts of all pictures that the decoder keeps for it and for later ones (section
/// 8.3.2), and marks those that it uses itself. So a picture is intact if it arrived whole and all pictures that it
/// uses are intact. A lost picture damages only those that use it.
///
/// Only the low bits of order counts are sent, and a lost key picture may have restarted them. So after a loss they
/// count only if they agree with the timestamps: timestamps must have grown in proportion to the order counts of the
/// earlier pictures. Otherwise nothing is known until the next picture without references.
struct HEVCReferences {
    /// The judgement of a picture that arrived whole.
    enum Verdict: Equatable {
        /// It decodes as the sender meant it. `separates` means that the decoder must first be informed of the end of
        /// the previous sequence.
        case decodable(separates: Bool)
        /// It uses a picture that is missing.
        case lacksReferences
        /// It belongs to a key picture at which decoding began, precedes it when shown, and uses earlier pictures.
        case leading
        /// Nothing is known of its references.
        case unknown
    }

    /// The order counts of the intact pictures that the decoder keeps.
    private var intact: [Int] = []
    /// The picture from whose order count the next one is derived: the count by all pictures that came, that by the
    /// pictures returned, and the timestamp.
    private var anchor: (all: Int, returned: Int, timestamp: UInt32)?
    /// Ticks of the timestamp for one step of the order count; 0 if unknown.
    private var interval = 0
    /// Pictures in a row that agreed with the interval.
    private var agreements = 0
    /// Whether a picture may be missing since the anchor.
    private var lacksSome = false
    /// Whether decoding began at the last key picture.
    private var hasBegunAnew = false
    /// Whether the references of the pictures since a key picture are known.
    private(set) var isActive = false
    /// Whether the sender refreshes the picture little by little: then pictures that lack references become right.
    private var refreshesGradually = false
    /// Whether anything was lost since the last key picture.
    private var hasLoss = false
    /// Whether any picture was returned.
    private var hasReturned = false

    /// Pictures in a row that lacked references.
    private var useless = 0

    /// The number of such pictures during which a key picture is awaited.
    private static let patience = 600
    /// The number of pictures that must have agreed with the interval before it counts.
    private static let proof = 8

    /// Records that a picture may be missing.
    mutating func noteLoss() {
        lacksSome = true
        hasLoss = true
    }

    /// Whether anything was lost since the last key picture that nothing refers across.
    var mayBeWrong: Bool { hasLoss }

    /// Forgets all pictures: the sender restarted.
    mutating func restart() {
        let hasReturned = hasReturned
        self = Self()
        self.hasReturned = hasReturned
        hasLoss = hasReturned
    }

    /// Records that a picture with a recovery point came that is no key picture.
    mutating func noteGradualRefresh() {
        refreshesGradually = true
        isActive = false
    }

    /// Returns the verdict on a picture that arrived whole. Call ``noteReturned(_:_:)`` if it is returned.
    func judge(_ header: HEVCPictureHeader?, at timestamp: UInt32) -> Verdict {
        guard let header, !refreshesGradually else { return .unknown }
        if header.isClean { return .decodable(separates: false) }
        let orders = orders(of: header, at: timestamp)
        if header.isCRA {
            let continues = orders.map { $0.all == $0.returned } ?? false
            return .decodable(separates: hasReturned && (isActive ? !continues : hasLoss))
        }
        guard isActive else { return .unknown }
        guard let orders, orders.all == orders.returned else {
            return header.isSkippedLeading && hasBegunAnew ? .leading : .lacksReferences
        }
        let isWhole = header.references.allSatisfy { !$0.isUsed || place(of: $0, header, orders.all) != nil }
        return isWhole
            ? .decodable(separates: false) : header.isSkippedLeading && hasBegunAnew ? .leading : .lacksReferences
    }

    /// Records a picture that arrived whole, after ``judge(_:)``.
    ///
    /// - Parameter isReturned: whether it goes to the decoder.
    mutating func note(
        _ header: HEVCPictureHeader?, at timestamp: UInt32, _ verdict: Verdict, isReturned: Bool
    ) {
        guard let header, verdict != .unknown else {
            isActive = false
            anchor = nil
            intact = []
            hasReturned = hasReturned || isReturned
            return
        }
        hasReturned = hasReturned || isReturned
        if header.isRandomAccess, isReturned { hasLoss = false }
        var order: (all: Int, returned: Int)
        let beginsAnew = header.isClean || anchor == nil || verdict == .decodable(separates: true)
        if beginsAnew {
            // Section 8.3.1: the high bits begin at zero.
            order = (header.orderLowBits, header.orderLowBits)
            hasBegunAnew = true
            intact = []
        } else if let found = orders(of: header, at: timestamp) {
            order = found
            if header.isCRA { hasBegunAnew = false }
            if !lacksSome { learn(order.all, timestamp) }
        } else {
            // Its order count is unknown, and so are those of all that follow.
            intact = []
            noteUseless()
            return
        }
        if isReturned {
            let kept = header.references.compactMap { place(of: $0, header, order.returned) }
            intact = intact.indices.filter { kept.contains($0) }.map { intact[$0] } + [order.returned]
            isActive = isActive || header.isRandomAccess
        }
        if isReturned { useless = 0 } else { noteUseless() }
        guard isActive, header.anchorsOrder || beginsAnew else { return }
        anchor = (order.all, isReturned ? order.returned : anchor?.returned ?? order.returned, timestamp)
        lacksSome = false
    }

    /// Counts a picture that came and is of no use. Senders without key pictures refresh the picture in another way,
    /// which not all of them announce: after many such pictures, the knowledge here no longer counts.
    private mutating func noteUseless() {
        useless += 1
        guard useless >= Self.patience else { return }
        useless = 0
        (isActive, anchor) = (false, nil)
    }

    /// Compares a picture's step from the anchor with the interval, or learns that from it.
    private mutating func learn(_ order: Int, _ timestamp: UInt32) {
        guard let anchor, order != anchor.all else { return }
        let ticks = Int(Int32(bitPattern: timestamp &- anchor.timestamp))
        if agrees(order - anchor.all, ticks) {
            agreements = min(agreements + 1, Self.proof)
        } else {
            agreements = 0
            interval = max(0, ticks / (order - anchor.all))
        }
    }

    /// Whether a step of the order count took as long as it should, to less than half a step.
    private func agrees(_ step: Int, _ ticks: Int) -> Bool {
        interval > 0 && abs(ticks - step * interval) * 5 <= interval * 2
    }

    /// Derives the picture order count: section 8.3.1. Nil if too much is lost.
    private func orders(of header: HEVCPictureHeader, at timestamp: UInt32) -> (all: Int, returned: Int)? {
        guard let anchor else { return nil }
        let range = 1 << header.orderBits
        func order(after anchor: Int) -> Int {
            let step = (header.orderLowBits - anchor) & (range - 1)
            return anchor + (step > range / 2 ? step - range : step)
        }
        let all = order(after: anchor.all)
        if lacksSome {
            let ticks = Int(Int32(bitPattern: timestamp &- anchor.timestamp))
            guard agreements >= Self.proof, agrees(all - anchor.all, ticks) else { return nil }
        }
        return (all, order(after: anchor.returned))
    }

    /// Returns the place of a picture among the intact ones; nil if it is not intact.
    private func place(
        of reference: HEVCPictureHeader.Reference, _ header: HEVCPictureHeader, _ order: Int
    ) -> Int? {
        if reference.isRelative { return intact.firstIndex(of: order + reference.order) }
        return intact.firstIndex { $0 & ((1 << header.orderBits) - 1) == reference.order }
    }
}
