import InletCore

/// The choice of packets to decode in a stream that had no viewers for a while, or that is late.
extension DecodeStage {
    /// Continues decoding between two key frames when pictures are wanted again. The packets since the last key frame
    /// are decoded, and only the newest picture is shown. If those packets could not be kept, a key frame is requested.
    ///
    /// If only key frames are decoded, only the last key frame is used.
    func catchUp(with newest: PictureGate.Packet, _ context: SourceContext) {
        guard let first = passed.packets.first else {
            if isLive, !precedesKey { context.requestKeyFrame() }
            return
        }
        handover.catchUp()
        if first.isKey {
            hasLeftOut = false
            lag?.resumeGroup()
            resetDecoder()
            gate.resume(at: PictureGate.Packet(isKey: true, pts: first.pts?.ticks, dts: first.dts?.ticks))
        }
        if demand.keyFramesOnly {
            kept = first.isKey ? [first] : []
            passed.clear()
            selection.skipToKey(after: first.isKey ? first.pts?.ticks ?? first.dts?.ticks : nil)
            if kept.isEmpty { resetDecoder() }
        } else {
            kept = passed.packets[...]
            passed.noteDecoded()
            selection.reset()
            if let pts = newest.pts { gate.begin(at: pts) }
        }
    }

    /// Decodes the next of the packets that were kept, if there is one.
    ///
    /// - Returns: whether there was one.
    func sendKept(_ context: SourceContext) throws -> Bool {
        guard let packet = kept.popFirst() else { return false }
        // An empty slice holds what it was taken from.
        if kept.isEmpty { kept = [] }
        context.reportProgress()
        if packet.flags.contains(.loss) { gate.noteLoss() }
        try send(packet, context)
        if kept.isEmpty {
            caughtUp = context.clock.now
            if selection.skipsToKey { empty() }
        }
        return true
    }

    /// Returns whether the picture can still be in time; false, and counted, if it is skipped.
    func isInTime(
        _ packet: SourcePacket, _ waiting: (count: Int, hasKey: Bool), _ context: SourceContext
    ) -> Bool {
        guard var lag, let received else { return true }
        if let caughtUp, received <= caughtUp { return true }
        caughtUp = nil
        defer { self.lag = lag }
        if demand.isLossless {
            // Packets skipped before the arrival of a sink that gets everything are missing.
            guard hasLeftOut, !packet.isKey else { return true }
            context.countDrop(.late)
            return false
        }
        // A new policy does not know what an earlier one skipped.
        if lag.leavesOut(isKey: packet.isKey, at: context.clock.now) || hasLeftOut && !packet.isKey {
            if lag.lacksKey(at: context.clock.now) { context.requestKeyFrame() }
            hasLeftOut = true
            passed.clear()
            context.countDrop(.late)
            return false
        }
        let isNonReference = !packet.isKey && NonReferencePicture.isIn(packet, codecHeader: codecHeader)
        let facts = LagPolicy.Packet(
            isKey: packet.isKey, isNonReference: isNonReference, arrival: received, precedesKey: waiting.hasKey,
            waiting: waiting.count)
        let wasLagging = lag.isLagging
        let isTaken = lag.decodes(facts, at: context.clock.now)
        if !isTaken {
            context.countDrop(.late)
            if !isNonReference || lag.skipsGroup {
                hasLeftOut = true
                passed.clear()
            }
        }
        if lag.isLagging != wasLagging { context.noteLag(lag.isLagging) }
        return isTaken
    }
}
