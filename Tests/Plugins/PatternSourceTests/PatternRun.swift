import InletCore
import InletTesting
import Logging
import PatternSource
import Testing

/// A pattern that was opened with a manual clock, for reading frame by frame.
struct PatternRun {
    let context: SourceContext
    let source: any FrameSource
    let format: SourceFormat

    init(
        _ configuration: PatternConfiguration, clock: any CaptureClock = ManualClock(waiting: .movesTime),
        demand: SourceDemand = .everything
    ) throws {
        context = SourceContext(clock: clock, logger: Logger(label: "test"))
        context.setDemand(demand)
        source = configuration.makeSource()
        format = try source.open(context)
    }

    func next() throws -> SourceFrame? { try source.next(context)?.frame }

    /// The picture of a frame, copied out of it.
    static func picture(_ frame: SourceFrame) throws -> I420Buffer {
        try #require(frame.owner as? I420Buffer)
    }
}
