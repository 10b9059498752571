import DequeModule
import InletCore

/// Turns traces of frames into Chrome trace events, one a line: a process for each source, a thread for each stage.
///
/// The format is defined by the "Trace Event Format" document of the Chromium project. Events of one thread must not
/// overlap unless they nest, so a stage that holds several frames at once, such as a queue of ten, gets further
/// threads.
struct ChromeTraceEncoder {
    /// The stages of a frame, in the order in which tracks are shown.
    enum Stage: Int, CaseIterable {
        case receive, decode, queue, convert, consume

        var isOfSource: Bool { self == .receive || self == .decode }
    }

    /// The most threads of one stage; further frames are left out.
    static let maximumLanes = 64
    /// The most threads in total.
    static let maximumThreads = 4096
    /// The frames that are remembered, as several sinks report the same one.
    static let rememberedFrames = 1024

    /// Events for which there was no room.
    private(set) var leftOut: UInt64 = 0

    private var text: [UInt8] = []
    private var isEmpty = true
    private var processes: [String: Process] = [:]
    private var lanes: [Track: [Lane]] = [:]
    private var threadCount = 0

    private struct Process {
        var number: Int
        var sinkNames: [SinkID: String] = [:]
        /// The timestamps of frames whose source stages were written.
        var written: Set<MonotonicTime> = []
        var order: Deque<MonotonicTime> = []
        var newestForgotten = MonotonicTime(nanoseconds: .min)

        mutating func isNew(_ time: MonotonicTime) -> Bool {
            guard time > newestForgotten, written.insert(time).inserted else { return false }
            order.append(time)
            if order.count > ChromeTraceEncoder.rememberedFrames, let oldest = order.popFirst() {
                written.remove(oldest)
                newestForgotten = max(newestForgotten, oldest)
            }
            return true
        }
    }

    private struct Track: Hashable {
        var process: Int
        var stage: Stage
        /// Nil for the source's own stages.
        var sink: SinkID?
    }

    private struct Lane {
        var thread: Int
        var end: MonotonicTime
    }

    /// Returns the text since the last call. All pieces together are an array that lacks its closing bracket.
    mutating func takeText() -> [UInt8] {
        defer { text.removeAll(keepingCapacity: true) }
        return text
    }

    /// Closes the array, with a note of what is missing.
    mutating func finish(framesLeftOut: UInt64) {
        if framesLeftOut + leftOut > 0 {
            beginEvent("incomplete", phase: "i", process: 0, thread: 0)
            append(
                ",\"s\":\"g\",\"ts\":0,\"args\":{\"frames left out\":\(framesLeftOut),\"events left out\":\(leftOut)}}")
        }
        append(isEmpty ? "[\n]\n" : "\n]\n")
    }

    /// Writes the stages that a frame reached.
    mutating func encode(_ trace: FrameTrace) {
        guard var process = takeProcess(of: trace) else { return }
        let stages = trace.stages
        if process.isNew(trace.timestamp) {
            write(.receive, from: stages.captured, to: stages.received ?? stages.decoded, trace, &process)
            write(.decode, from: stages.received, to: stages.decoded, trace, &process)
        }
        write(.queue, from: stages.queued, to: stages.taken, trace, &process)
        write(.convert, from: stages.taken, to: stages.converted, trace, &process)
        write(.consume, from: stages.delivered, to: trace.end, trace, &process)
        if let reason = trace.dropReason { write(reason, trace, &process) }
        processes[trace.source] = process
    }

    /// Removes and returns the process, so that changing it copies nothing; the caller puts it back.
    private mutating func takeProcess(of trace: FrameTrace) -> Process? {
        if let known = processes.removeValue(forKey: trace.source) { return known }
        guard threadCount < Self.maximumThreads else {
            leftOut += 1
            return nil
        }
        let process = Process(number: processes.count + 1)
        writeMetadata("process_name", trace.source, process: process.number, thread: 0)
        return process
    }

    private mutating func write(
        _ stage: Stage, from start: MonotonicTime?, to end: MonotonicTime?, _ trace: FrameTrace,
        _ process: inout Process
    ) {
        guard let start, let end, start <= end else { return }
        guard let thread = thread(of: stage, from: start, to: end, trace, &process) else {
            leftOut += 1
            return
        }
        beginEvent("\(stage)", phase: "X", process: process.number, thread: thread)
        append(",\"cat\":\"frame\",\"ts\":")
        appendMicroseconds(start.nanoseconds)
        append(",\"dur\":")
        appendMicroseconds((end - start).wholeNanoseconds)
        append(",\"args\":{\"frame\":\(trace.sequence)}}")
    }

    /// Writes a drop: an instant on the track of the stage that the frame had reached.
    private mutating func write(_ reason: DropReason, _ trace: FrameTrace, _ process: inout Process) {
        let stage: Stage =
            trace.stages.delivered != nil ? .consume : trace.stages.taken != nil ? .convert : .queue
        guard let thread = thread(of: stage, from: .distantFuture, to: nil, trace, &process) else {
            leftOut += 1
            return
        }
        beginEvent("dropped: \(reason)", phase: "i", process: process.number, thread: thread)
        append(",\"cat\":\"drop\",\"s\":\"t\",\"ts\":")
        appendMicroseconds(trace.end.nanoseconds)
        append(",\"args\":{\"frame\":\(trace.sequence)}}")
    }

    /// Returns the first thread of a stage that is free from `start` on, or a new one. It is then busy until `end`.
    private mutating func thread(
        of stage: Stage, from start: MonotonicTime, to end: MonotonicTime?, _ trace: FrameTrace,
        _ process: inout Process
    ) -> Int? {
        let track = Track(
            process: process.number, stage: stage, sink: stage.isOfSource ? nil : trace.sinkID)
        let known = lanes[track, default: []]
        if let free = known.firstIndex(where: { $0.end <= start }) {
            if let end { lanes[track]?[free].end = end }
            return known[free].thread
        }
        guard known.count < Self.maximumLanes, threadCount < Self.maximumThreads else { return nil }
        threadCount += 1
        let lane = Lane(thread: threadCount, end: end ?? MonotonicTime(nanoseconds: .min))
        lanes[track, default: []].append(lane)
        var name = stage.isOfSource ? "\(stage)" : "\(sinkName(trace, &process)) \(stage)"
        if !known.isEmpty { name += " \(known.count + 1)" }
        writeMetadata("thread_name", name, process: process.number, thread: lane.thread)
        // Stage by stage; sinks follow the source.
        let block = stage.isOfSource ? 0 : trace.sinkID.number
        let order = (block * Stage.allCases.count + stage.rawValue) * Self.maximumLanes + known.count
        beginEvent("thread_sort_index", phase: "M", process: process.number, thread: lane.thread)
        append(",\"args\":{\"sort_index\":\(order)}}")
        return lane.thread
    }

    /// Returns the sink's name, with its number if another sink has the same name.
    private func sinkName(_ trace: FrameTrace, _ process: inout Process) -> String {
        if let known = process.sinkNames[trace.sinkID] { return known }
        let isTaken = process.sinkNames.values.contains(trace.sink)
        let name = isTaken ? "\(trace.sink) (\(trace.sinkID))" : trace.sink
        process.sinkNames[trace.sinkID] = name
        return name
    }
}

/// JSON output.
extension ChromeTraceEncoder {
    private mutating func writeMetadata(_ kind: String, _ name: String, process: Int, thread: Int) {
        beginEvent(kind, phase: "M", process: process, thread: thread)
        append(",\"args\":{\"name\":")
        appendQuoted(name)
        append("}}")
    }

    /// Writes everything up to what differs from event to event. The separator precedes an event, so that the text ends
    /// with a complete one.
    private mutating func beginEvent(_ name: String, phase: String, process: Int, thread: Int) {
        append(isEmpty ? "[\n" : ",\n")
        isEmpty = false
        append("{\"name\":")
        appendQuoted(name)
        append(",\"ph\":\"\(phase)\",\"pid\":\(process),\"tid\":\(thread)")
    }

    private mutating func append(_ string: String) { text += string.utf8 }

    private mutating func appendQuoted(_ string: String) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                let hex = String(byte, radix: 16)
                append("\\u00" + (hex.utf8.count < 2 ? "0" : "") + hex)
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    /// Appends microseconds with three decimals: the format's unit, without losing the nanoseconds.
    private mutating func appendMicroseconds(_ nanoseconds: Int64) {
        let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest)
        append("\(nanoseconds < 0 ? "-" : "")\(whole).\(String(repeating: "0", count: 3 - digits.utf8.count))\(digits)")
    }
}
