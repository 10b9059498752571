import CInletPlugin
import InletCore
import InletPluginIPC
import InletSystem
import Logging

// Unsafe: fills in the host's stream struct.
/// One instance of a source, as the host calls it: one function at a time.
final class SourceInstance {
    private let configuration: any FrameSourceConfiguration
    private let host: InstanceHost
    private var thread: SourceThread?
    private var stream: StreamFacts?
    /// The memory of the parameter sets of `open`, until the next call.
    private var lent: LentMemory?
    /// Counts packets, which have no numbers.
    private var packetCount: UInt64 = 0
    /// Whether the source was asked for an item that it has not yielded yet.
    private var isReading = false
    /// An item that arrived while the host wanted a pause.
    private var early: SourceItem??
    private var reportedDrops: [DropReason: UInt64] = [:]

    /// The time before the deadline of `open` at which the source itself must give up, so that its own error arrives.
    private static let margin = Duration.milliseconds(50)
    /// The time that a pause waits for an item that the source is about to yield.
    private static let pausePatience = Duration.milliseconds(900)
    /// The time that a source may take to close.
    private static let closeTime = Duration.milliseconds(900)

    init(_ configuration: any FrameSourceConfiguration, host: InstanceHost) {
        self.configuration = configuration
        self.host = host
    }

    /// Opens the source.
    func open(until deadline: MonotonicTime, in stream: inout inlet_stream) throws(InletError) {
        guard thread == nil else { throw InletError(.internal, "The source is open already. Inlet opens it once.") }
        try checkCancellation()
        let (configuration, host) = (configuration, host)
        let thread = try SourceThread({ _ in configuration.makeSource() }, onProgress: { host.reportProgress() }) {
            SourceContext(
                clock: ThreadClock(), wakeUpDescriptor: $0, logger: Logger(label: "plugin") { _ in HostLogHandler() },
                onInterruption: { host.changeInterruption($0) }, onProgress: $1)
        }
        self.thread = thread
        thread.context.setDemand(host.demand.wanted)
        let left = max(.zero, deadline - .now)
        thread.request(.open(within: left - min(Self.margin, left / 10)))
        guard case .opened(let format) = try answer(of: thread, until: deadline) else {
            throw InletError(
                .timedOut, "The source took too long to open. Check that the device or server is available.")
        }
        let facts = try StreamFacts(format)
        lent = facts.parameterSets.isEmpty ? nil : LentMemory(facts.parameterSets)
        try unsafe facts.describe(format, in: &stream, lent: lent)
        self.stream = facts
        followDemand()
        reportDrops()
    }

    /// Waits for the next item.
    ///
    /// - Returns: `INLET_OK`, `INLET_AGAIN` or `INLET_END`.
    func next(until deadline: MonotonicTime, in item: inout inlet_item) throws(InletError) -> Int {
        guard let thread, stream != nil else { throw InletError(.internal, "The source is not open.") }
        try checkCancellation()
        followDemand()
        defer { reportDrops() }
        if let next = early.take() { return try unsafe fill(&item, with: next) }
        if !isReading { thread.request(.next) }
        isReading = true
        guard case .item(let next) = try answer(of: thread, until: deadline) else { return INLET_AGAIN }
        isReading = false
        return try unsafe fill(&item, with: next)
    }

    /// - Throws: ``InletError/Code/unsupported`` if the source cannot pause, or not now.
    func pause() throws(InletError) {
        guard let thread, stream != nil else { throw InletError(.internal, "The source is not open.") }
        if isReading {
            guard case .item(let item) = try answer(of: thread, until: .now + Self.pausePatience) else {
                throw InletError(.unsupported, "The source waits for its next picture, and cannot pause meanwhile.")
            }
            isReading = false
            early = .some(item)
        }
        thread.request(.pause)
        guard case .paused(true) = try answer(of: thread, until: .distantFuture) else {
            throw InletError(.unsupported, "The source cannot pause.")
        }
    }

    /// Continues after a pause.
    func resume() throws(InletError) {
        guard let thread, stream != nil else { throw InletError(.internal, "The source is not open.") }
        thread.request(.resume)
        _ = try answer(of: thread, until: .distantFuture)
    }

    /// Closes the source.
    func close() {
        guard let thread else { return }
        if !thread.close(within: Self.closeTime) {
            PluginLibrary.shared.log?(.warning, "The source does not close within \(Self.closeTime).")
        }
        reportDrops()
        self.thread = nil
        (stream, lent, early) = (nil, nil, nil)
    }

    /// Closes anything that is open, and ends the use of the host.
    func destroy() {
        close()
        host.end()
    }

    private func checkCancellation() throws(InletError) {
        guard host.isCancelled else { return }
        thread?.cancel()
        throw Self.cancellation
    }

    private static let cancellation = InletError(.cancelled, "The source was stopped.")

    /// Returns the answer to the last request; nil if it has not arrived by the deadline.
    private func answer(
        of thread: SourceThread, until deadline: MonotonicTime
    ) throws(InletError) -> SourceThread.Answer? {
        switch thread.answer(until: deadline, wakeDescriptor: host.wakeDescriptor) {
        case .answer(.failed(let error)): throw error
        case .answer(let answer): return answer
        case .late: return nil
        case .cancelled: throw Self.cancellation
        }
    }

    private func fill(_ item: inout inlet_item, with next: SourceItem?) throws(InletError) -> Int {
        guard var stream else { return INLET_END }
        switch next {
        case nil: return INLET_END
        case .frame(let frame):
            guard stream.codec == nil else {
                throw InletError(.internal, "The source yields a picture, but its format is of packets.")
            }
            try unsafe ItemForm.fill(&item, with: frame, stream)
        case .packet(let packet):
            guard stream.codec != nil else {
                throw InletError(
                    .internal, "The source yields a packet, but has not said so by SourceFormat.packetStream.")
            }
            try unsafe ItemForm.fill(&item, with: packet, sequence: packetCount, &stream)
            packetCount += 1
            self.stream = stream
        }
        return INLET_OK
    }

    /// Notifies the source of the sinks' demand. Only a packet source may be asked for packets: a source that also
    /// decodes them would yield both, which the interface cannot carry.
    private func followDemand() {
        guard let thread else { return }
        var (demand, keyFrameRequests) = host.demand
        if stream?.codec == nil { demand.packets = false }
        thread.context.setDemand(demand)
        thread.context.setKeyFrameRequests(keyFrameRequests)
    }

    private func reportDrops() {
        guard let counts = thread?.context.dropCounts, counts != reportedDrops else { return }
        for (reason, count) in counts {
            let before = reportedDrops[reason] ?? 0
            if count > before { host.countDrop(reason, count - before) }
        }
        reportedDrops = counts
    }
}
