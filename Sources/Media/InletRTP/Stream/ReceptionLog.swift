package import InletCore

/// Reports received and lost packets to the source's context, over all streams of a source.
package struct ReceptionLog {
    private var stream: MediaStream?
    /// The sum of the figures of earlier streams.
    private var past = ReceptionFigures()
    /// The drops of the current stream that have been counted.
    private var counted = DepacketizerStatistics()

    /// The reason for dropping an access unit of more bytes, or of more NAL units, than is allowed.
    private static let tooLarge = DropReason("tooLarge")

    package init() {}

    /// Counts the drops since the last call, and reports the figures.
    ///
    /// - Parameter current: the current stream; nil without a stream.
    package mutating func report(_ current: MediaStream?, to context: SourceContext) {
        if current !== stream, let old = stream {
            countDrops(of: old, context)
            past = past.followed(by: old.figures)
            stream = nil
        }
        guard let current else { return }
        if stream == nil { (stream, counted) = (current, DepacketizerStatistics()) }
        countDrops(of: current, context)
        context.reportReception(past.followed(by: current.figures))
    }

    private mutating func countDrops(of stream: MediaStream, _ context: SourceContext) {
        let now = stream.payloads
        guard now != counted else { return }
        let before = counted
        counted = now
        func count(_ reason: DropReason, _ number: Int) { context.countDrop(reason, UInt64(clamping: number)) }
        count(.damaged, now.droppedUnits &- before.droppedUnits &+ now.withoutReferences &- before.withoutReferences)
        count(.poolExhausted, now.noMemory &- before.noMemory)
        count(Self.tooLarge, now.tooLarge &- before.tooLarge)
    }
}
