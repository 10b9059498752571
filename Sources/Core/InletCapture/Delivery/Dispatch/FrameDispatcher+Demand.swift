import InletCore
import Synchronization

/// The receivers' demand on the source.
extension FrameDispatcher {
    /// Whether any receiver is attached.
    var hasReceivers: Bool { !currentReceivers().isEmpty }

    /// Whether any receiver has use for the source now.
    var isWatched: Bool { currentReceivers().contains(where: \.isWatched) }

    /// The combined demand of all receivers on the source.
    var demand: SourceDemand {
        let receivers = Receivers(currentReceivers())
        let (format, reduction) = state.withLock { ($0.format, $0.reduction) }
        let mayIdle = mayIdle(format, reduction)
        let pictures = receivers.frames.filter { $0.takesPictures && !(mayIdle && $0.isIdle) }
        var demand = SourceDemand(serving: pictures.map(\.wants))
        // Packets show that the source is alive while few or no pictures are decoded.
        let needsSign = mayIdle && !receivers.frames.isEmpty && (pictures.isEmpty || reduction.keyFramesOnly)
        demand.packets = receivers.packets.contains(where: \.takesPackets) || needsSign
        demand.pictures = !demand.packets || !pictures.isEmpty
        demand.hasIdleSinks = pictures.isEmpty && receivers.frames.contains(where: \.takesPictures)
        demand.isLossless = pictures.contains(where: \.isLossless)
        demand.keyFramesOnly = reduction.keyFramesOnly
        // A source without packets has to yield something.
        if reduction.isPaused, demand.pictures { demand.maximumFrameRate = Rational(1) }
        return demand
    }

    /// Sets how far pictures are reduced.
    func reduce(to reduction: PictureReduction) {
        state.withLock { $0.reduction = reduction }
        for receiver in currentReceivers() { (receiver as? any FrameReceiver)?.reduce(to: reduction) }
    }

    /// Whether any receiver takes pictures at present.
    var hasPictureWork: Bool { currentReceivers().contains { ($0 as? any FrameReceiver)?.hasPictureWork == true } }

    /// Returns whether decoding may stop while no sink uses pictures. The last picture may have to replace others,
    /// unless none is to be decoded; and only a live source continues meanwhile.
    func mayIdle(_ format: SourceFormat?, _ reduction: PictureReduction) -> Bool {
        guard let format, !keepsLastFrame || reduction.isPaused else { return false }
        return format.hasPackets && format.pacing == .live
    }
}
