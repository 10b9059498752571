import InletCore
import InletSystem
import Synchronization

/// A source in a process of its own that goes over to a new version of its plug-in while it runs.
///
/// The new version is opened beside the one that runs, and takes its place with its first picture, or with its first
/// key frame. Where the device allows one session, the old one is closed first.
final class UpdatingSource: FrameSource {
    private var configuration: PluginSourceConfiguration
    private var source: ProcessSource
    private var updater: SourceUpdater?
    private var format: SourceFormat?
    /// What the next number of a picture is to be.
    private var nextSequence: UInt64 = 0
    /// What makes the numbers of this version follow those of the one before.
    private var sequenceOffset: UInt64 = 0
    private var last: (time: MediaTime?, arrival: MonotonicTime)?

    /// How far the times of two versions may lie from the time that has passed, to be of one timeline.
    private static let tolerance = Duration.milliseconds(500)

    init(_ configuration: PluginSourceConfiguration) {
        self.configuration = configuration
        source = ProcessSource(configuration)
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        if let updates = configuration.updates, updates.isOutdated {
            // What was found earlier is no longer there: nothing of it was checked.
            configuration = try Self.replacement(of: configuration, updates)
            source = ProcessSource(configuration)
            noteVersion(context)
        }
        let format = try source.open(context)
        self.format = format
        updater = configuration.updates.map { SourceUpdater($0, context) }
        return format
    }

    /// Returns what takes the place of a version whose files are gone.
    ///
    /// - Throws: ``InletError/Code/busy`` if it cannot be used: the files may be in the middle of an update, and a
    ///   sound version may come.
    private static func replacement(
        of configuration: PluginSourceConfiguration, _ updates: PluginUpdates
    ) throws(InletError) -> PluginSourceConfiguration {
        do throws(InletError) {
            return try updates.find()
        } catch {
            throw InletError(
                .busy,
                "The plug-in \(configuration.program.name) was replaced, and its new version cannot be used. "
                    + error.message)
        }
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        updater?.look()
        switch updater?.takeNews() {
        case .opened(let successor): return try takeOver(successor, context)
        case .found(let configuration): return try replace(by: configuration, context)
        case nil: return try source.next(context).map(numbered)
        }
    }

    func pause(_ context: SourceContext) throws -> Bool { try source.pause(context) }

    func resume(_ context: SourceContext) throws { try source.resume(context) }

    func close() {
        updater?.close()
        source.close()
    }

    // MARK: A new version

    /// What came of opening a new version.
    private final class Outcome: Sendable {
        let result = Mutex(Result<SourceSuccessor, InletError>?.none)
    }

    /// Closes the source that runs, and waits for one of the new version.
    private func replace(
        by configuration: PluginSourceConfiguration, _ context: SourceContext
    ) throws(InletError) -> SourceItem {
        guard let updater else { throw InletError(.cancelled, "The source is closed.") }
        context.beginInterruption("its plug-in is updated")
        defer { context.endInterruption() }
        source.close()
        let isDone = try WakeUpSignal()
        let outcome = Outcome()
        updater.open(configuration) { result in
            outcome.result.withLock { $0 = result }
            isDone.raise()
        }
        while true {
            if context.isCancelled { throw InletError(.cancelled, "The source was stopped.") }
            if let result = outcome.result.withLock({ $0.take() }) { return try takeOver(try result.get(), context) }
            _ = Polling.wait([context.wakeUpDescriptor, isDone.descriptor, -1, -1], for: .milliseconds(100))
        }
    }

    private func takeOver(_ successor: SourceSuccessor, _ context: SourceContext) throws(InletError) -> SourceItem {
        guard let format, Self.isAlike(successor.format, format) else {
            updater?.retire(successor.source)
            throw InletError(
                .formatChanged,
                "The new version of \(configuration.program.name) yields a stream of another kind, for which the source "
                    + "is opened anew.")
        }
        let former = source
        source = successor.source.value
        // What the former one says at its end is no longer of interest.
        former.move(to: successor.context)
        updater?.retire(Handover(former))
        source.move(to: context)
        configuration = successor.configuration
        self.format = successor.format
        updater?.follow(configuration.updates)
        noteVersion(context)
        return numbered(joined(successor.first))
    }

    private func noteVersion(_ context: SourceContext) {
        context.noteUpdate(.taken(configuration.updates?.version ?? configuration.program.name))
    }

    /// Whether what was made for one stream serves for another: queues, decoders and clocks.
    private static func isAlike(_ new: SourceFormat, _ old: SourceFormat) -> Bool {
        new.packetStream?.parameters.codec == old.packetStream?.parameters.codec && new.pacing == old.pacing
            && new.timestampBits == old.timestampBits
    }

    /// Returns the first item of a version, marked where its timeline is not that of the one before.
    private func joined(_ item: SourceItem) -> SourceItem {
        switch item {
        case .frame(var frame):
            sequenceOffset = nextSequence &- frame.sequence
            if !continues(frame.pts) { frame.flags.insert(.discontinuity) }
            return .frame(frame)
        case .packet(var packet):
            if !continues(packet.dts) { packet.flags.insert(.discontinuity) }
            return .packet(packet)
        }
    }

    private func continues(_ time: MediaTime?) -> Bool {
        guard let last, let time, let before = last.time else { return false }
        let difference = time.nanoseconds.subtractingReportingOverflow(before.nanoseconds)
        guard !difference.overflow, difference.partialValue > 0 else { return false }
        let elapsed = MonotonicTime.now - last.arrival
        return abs(difference.partialValue - elapsed.wholeNanoseconds) <= Self.tolerance.wholeNanoseconds
    }

    /// Numbers an item on, and remembers its time.
    private func numbered(_ item: SourceItem) -> SourceItem {
        switch item {
        case .frame(var frame):
            frame.sequence &+= sequenceOffset
            nextSequence = frame.sequence &+ 1
            last = (frame.pts, .now)
            return .frame(frame)
        case .packet(let packet):
            last = (packet.dts, .now)
            return item
        }
    }
}
