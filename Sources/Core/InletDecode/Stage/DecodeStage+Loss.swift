import InletCore

/// Losses, and pictures that are discarded when decoding starts over.
extension DecodeStage {
    /// Records that a packet yielded no picture.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if that is because its picture is too large.
    func noteUndecodable(_ fault: PacketFault, _ context: SourceContext) throws(InletError) {
        context.countDrop(.undecodable)
        guard isLive, fault != .unknownPixelFormat else { return }
        if fault == .tooLarge { throw settings.limits.refusal("The pictures have") }
        lose(context)
    }

    /// Records that a part of the stream is missing: no picture before the next key frame can be complete. Requests one
    /// of a live source, unless one is queued.
    ///
    /// - Parameter hasQueue: false if the queued packets have been discarded.
    func lose(_ context: SourceContext, hasQueue: Bool = true) {
        if isLive, !(precedesKey && hasQueue) { context.requestKeyFrame() }
        gate.noteLoss()
        guard settings.damage == .drop || !hasQueue else { return }
        passed.clear()
        kept = []
        guard settings.damage == .drop else { return }
        handover.lose()
        // In a pause nothing is missed.
        if hasQueue { discardHeld(.damaged, context) } else { resetDecoder() }
        selection.reset()
        phase = .reading
    }

    /// Resets the decoder, and counts the pictures that it holds back to put them in order.
    func discardHeld(_ reason: DropReason, _ context: SourceContext) {
        // A packet may yield no picture.
        let count = min(heldCount, decoder.reorderDepth)
        if count > 0 { context.countDrop(reason, UInt64(count)) }
        resetDecoder()
    }

    /// Resets the decoder. The pictures that it holds back are not missed.
    func resetDecoder() {
        heldCount = 0
        decoder.reset()
    }
}
