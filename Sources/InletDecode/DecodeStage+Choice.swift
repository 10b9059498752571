import InletCore

/// What is decoded of a stream that nobody watched for a while, or that is late.
extension DecodeStage {
    /// Continues decoding between two key frames, where pictures are wanted again: the packets since the last key frame
    /// are decoded, and the pictures before the newest one are not shown. If they could not be kept, a key frame is
    /// requested.
    func catchUp(with newest: PictureGate.Packet, _ context: SourceContext) {
        guard let first = passed.packets.first else {
            if isLive, !precedesKey { context.requestKeyFrame() }
            return
        }
        kept = passed.packets[...]
        passed.noteDecoded()
        handover.catchUp()
        selection.reset()
        if first.isKey {
            hasLeftOut = false
            decoder.reset()
            gate.resume(at: PictureGate.Packet(isKey: true, pts: first.pts?.ticks, dts: first.dts?.ticks))
        }
        if let pts = newest.pts { gate.begin(at: pts) }
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
        if lag.leavesOut(isKey: packet.isKey, at: context.clock.now) {
            context.countDrop(.late)
            return false
        }
        turn.take(until: received + lag.limit, context) { lag.rank(isKey: packet.isKey, at: $0) }
        let isNonReference = !packet.isKey && NonReferencePicture.isIn(packet, codecHeader: codecHeader)
        let facts = LagPolicy.Packet(
            isKey: packet.isKey, isNonReference: isNonReference, arrival: received, precedesKey: waiting.hasKey,
            waiting: waiting.count)
        let wasLagging = lag.isLagging
        let isTaken = lag.decodes(facts, at: context.clock.now)
        if !isTaken {
            turn.give()
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
