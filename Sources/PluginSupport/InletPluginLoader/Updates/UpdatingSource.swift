import InletCore
import InletSystem
import Synchronization

/// A source in a separate process that switches to a new version of its plug-in while it runs.
///
/// The new version is opened in parallel with the running one, and replaces it with its first picture, or with its
/// first key frame. If the device allows only one session, the old one is closed first.
final class UpdatingSource: FrameSource {
    private var configuration: PluginSourceConfiguration
    private var source: ProcessSource
    private var updater: SourceUpdater?
    private var format: SourceFormat?
    /// The next number of a picture.
    private var nextSequence: UInt64 = 0
    /// The offset by which the numbers of this version follow those of the previous one.
    private var sequenceOffset: UInt64 = 0
    private var last: (time: MediaTime?, arrival: MonotonicTime)?

    /// The largest difference between the times of two versions and the elapsed time at which they count as one
    /// timeline.
    private static let tolerance = Duration.milliseconds(500)
    /// The most pictures of a new version that are left out.
    private static let mostRepeated = 100

    init(_ configuration: PluginSourceConfiguration) {
        self.configuration = configuration
        source = ProcessSource(configuration)
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        if let updates = configuration.updates, updates.isOutdated {
            // The version found earlier no longer exists, so none of its checks are valid.
            configuration = try Self.replacement(of: configuration, updates, context)
            source = ProcessSource(configuration)
            noteVersion(context)
        }
        let format = try source.open(context)
        self.format = format
        updater = configuration.updates.map { SourceUpdater($0, context) }
        return format
    }

    /// Returns the replacement for a version whose files are gone.
    ///
    /// - Throws: the reason why it cannot be used; ``InletError/Code/busy`` if that may pass, as in the middle of an
    ///   update.
    private static func replacement(
        of configuration: PluginSourceConfiguration, _ updates: PluginUpdates, _ context: SourceContext
    ) throws(InletError) -> PluginSourceConfiguration {
        let files = updates.files()
        do throws(InletError) {
            return try updates.find()
        } catch {
            var refusal = error
            refusal.message =
                "The plug-in \(configuration.program.name) was replaced, and its new version cannot be used. "
                + error.message
            if finalCodes.contains(error.code), files != nil {
                // Files that are still being written are refused for the same reasons as bad ones.
                try context.sleep(until: context.clock.now + updates.settling)
                if updates.files() == files { throw refusal }
            }
            refusal.code = .busy
            throw refusal
        }
    }

    /// The errors of a version that stay until its files change.
    private static let finalCodes: Set<InletError.Code> = [
        .permissionDenied, .unsupported, .invalidConfiguration, .malformedData, .pluginRejected,
    ]

    func next(_ context: SourceContext) throws -> SourceItem? {
        updater?.look()
        switch updater?.takeNews() {
        case .opened(let successor): return try begin(with: takeOver(successor, context), context)
        case .found(let configuration): return try begin(with: replace(by: configuration, context), context)
        case nil: return try source.next(context).map(numbered)
        }
    }

    func pause(_ context: SourceContext) throws -> Bool {
        updater?.dropNews()
        return try source.pause(context)
    }

    func resume(_ context: SourceContext) throws {
        // A source opened meanwhile begins with a picture from then.
        updater?.dropNews()
        try source.resume(context)
    }

    func close() {
        updater?.close()
        source.close()
    }

    // MARK: A new version

    /// The outcome of opening a new version.
    private final class Outcome: Sendable {
        let result = Mutex(Result<SourceSuccessor, InletError>?.none)
    }

    /// Closes the running source, waits for one of the new version, and returns that one's first item.
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
            if let result = outcome.result.withLock({ $0.take() }) {
                // There is no way back: this version runs next, once it opens.
                if case .failure(let error) = result { context.noteUpdate(.refused(error)) }
                return try takeOver(try result.get(), context)
            }
            _ = Polling.wait([context.wakeUpDescriptor, isDone.descriptor, -1, -1], for: .milliseconds(100))
        }
    }

    /// Switches to a source of the new version, and returns its first item.
    private func takeOver(_ successor: SourceSuccessor, _ context: SourceContext) throws(InletError) -> SourceItem {
        guard let format, Self.isAlike(successor.format, format) else {
            updater?.retire(successor.source)
            throw InletError(
                .formatChanged,
                "The new version of \(configuration.program.name) yields a stream of another kind, for which the source "
                    + "is opened again.")
        }
        let former = source
        source = successor.source.value
        // The former one's messages at its end are no longer of interest.
        former.move(to: successor.context)
        updater?.retire(Handover(former))
        source.move(to: context)
        configuration = successor.configuration
        self.format = successor.format
        updater?.follow(configuration.updates)
        noteVersion(context)
        return successor.first
    }

    /// Returns the item with which the new version follows the old one: its first, except pictures of a time for which
    /// the old one has yielded its own.
    private func begin(with first: SourceItem, _ context: SourceContext) throws -> SourceItem? {
        var item = first
        var repeated = 0
        while repeated < Self.mostRepeated, isRepeated(item) {
            guard let next = try source.next(context) else { return nil }
            item = next
            repeated += 1
        }
        return numbered(joined(item))
    }

    /// Whether a picture is of the time of the last one, or a little earlier. Packets depend on each other, so none is
    /// left out.
    private func isRepeated(_ item: SourceItem) -> Bool {
        guard let before = last?.time, let time = item.frame?.pts else { return false }
        let difference = time.nanoseconds.subtractingReportingOverflow(before.nanoseconds)
        return !difference.overflow && (-Self.tolerance.wholeNanoseconds...0).contains(difference.partialValue)
    }

    private func noteVersion(_ context: SourceContext) {
        context.noteUpdate(.taken(configuration.updates?.version ?? configuration.program.name))
    }

    /// Whether queues, decoders and clocks made for one stream can be used for another.
    private static func isAlike(_ new: SourceFormat, _ old: SourceFormat) -> Bool {
        new.packetStream?.parameters.codec == old.packetStream?.parameters.codec && new.pacing == old.pacing
            && new.timestampBits == old.timestampBits
    }

    /// Returns the first item of a version, marked if its timeline is not that of the previous one.
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

    /// Assigns the next number to an item, and remembers its time.
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
