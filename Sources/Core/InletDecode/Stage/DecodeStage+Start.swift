import InletCore

/// The beginning of a file at a time in its middle.
extension DecodeStage {
    /// Whether every picture ended before the time at which to start.
    var startsAfterEnd: Bool { pictures == 0 && lastBeforeStart != nil }

    /// Records a whole picture that is shown before the time at which to start.
    func noteBeforeStart(_ frame: SourceFrame) {
        if start != nil, pictures == 0, !frame.flags.contains(.corrupt) { lastBeforeStart = frame }
    }

    /// Takes the stream's last picture if it began before the time at which to start and is still shown then.
    func takeShownAtStart() -> Output {
        guard pictures == 0, let start, let frame = lastBeforeStart, let pts = frame.pts,
            let length = frame.duration ?? frameRate?.reciprocal.map({ MediaTime(ticks: 1, timeBase: $0) }),
            pts.nanoseconds.adding(saturating: length.nanoseconds) > start.nanoseconds
        else { return .ended }
        return .item(.frame(complete(frame)))
    }
}

/// A stretch of the stream of which only key frames are decoded.
extension DecodeStage {
    /// Begins the stretch with the packet that is the first to be skipped.
    func beginStretch(with packet: SourcePacket) {
        passed.clear()
        // The decoder forgets the key frame, to which what follows refers.
        if let lastKey { keep(lastKey) }
        lastKey = nil
        keep(packet)
        empty()
    }

    /// Ends the stretch before the next key frame, which is overdue.
    func endStretch(with packet: SourcePacket, _ facts: PictureGate.Packet, _ context: SourceContext) {
        keep(packet)
        // It knows the distance to the next key frame only if it still knows the last one.
        let selection = selection
        catchUp(with: facts, context)
        self.selection = selection
    }

    /// Keeps a packet that is skipped, in case key frames become rarer.
    func keep(_ packet: SourcePacket) {
        if !passed.add(packet) { passed.clear() }
    }
}
