import DequeModule
import InletCore

/// Keeps what a source knows about its packets, and a decoder does not, until their pictures are output.
struct PacketFacts {
    private let range: ColorRange?
    private let matrix: ColorMatrix?
    /// The times of a packet, by the ticks at which its picture is shown.
    private struct Times {
        var pts: Int64
        var capture: MonotonicTime?
        var arrival: MonotonicTime?
        var wallClock: Int64?
        /// The timeline of the packet, as in ``timeline``.
        var timeline: Int
    }

    // A ring: a decoder may discard packets that it cannot use, so the oldest makes room for the newest.
    private var times: [Times?] = []
    private var next = 0
    /// The number of timelines that have begun after the first, by packets and by pictures.
    private var timeline = 0
    private var shownTimeline = 0

    /// The times at which the newest packets arrived.
    private var arrivals: Deque<MonotonicTime> = []

    /// The greatest number of pictures that a decoder holds back to put them in order (H.264, annex A.3.1).
    private static let mostReordered = 16
    /// More than any decoder holds back.
    private static let mostTimes = 64

    /// - Parameters:
    ///   - range: the range of all pictures, whatever they state; nil uses what they state.
    ///   - matrix: the matrix of all pictures, likewise.
    init(range: ColorRange?, matrix: ColorMatrix?) {
        self.range = range
        self.matrix = matrix
    }

    /// Records a packet that is decoded, or may be.
    ///
    /// - Parameter arrival: when it arrived; nil if the stream is not live.
    mutating func note(_ packet: SourcePacket, arrival: MonotonicTime? = nil) {
        if packet.flags.contains(.discontinuity) { timeline += 1 }
        if let arrival {
            if arrivals.count > Self.mostReordered { arrivals.removeFirst() }
            arrivals.append(arrival)
        }
        guard let pts = packet.pts?.ticks else { return }
        let new = Times(
            pts: pts, capture: packet.captureTime, arrival: arrival, wallClock: packet.wallClock, timeline: timeline)
        if times.count < Self.mostTimes { times.append(new) } else { times[next] = new }
        next = (next + 1) % Self.mostTimes
    }

    /// Returns the time from which a picture's lag counts: the arrival of the last packet that a decoder needs to
    /// output it in order. Nil if the picture's packet is unknown.
    func lagStart(of frame: SourceFrame, reorderDepth: Int) -> MonotonicTime? {
        guard let newest = arrivals.last,
            let arrival = frame.pts.flatMap({ place(of: $0.ticks) }).flatMap({ times[$0]?.arrival })
        else { return nil }
        let before = arrivals[max(arrivals.startIndex, arrivals.endIndex - 1 - max(0, reorderDepth))]
        return min(newest, arrival + (newest - before))
    }

    /// Adds the known facts to a picture that is shown. Unknown facts leave the picture unchanged, except for the time
    /// of day, which is always that of the picture's own packet or nil.
    mutating func complete(_ frame: inout SourceFrame) {
        var timeline = timeline
        if let times = frame.pts.flatMap({ take($0.ticks) }) {
            timeline = times.timeline
            if let time = times.capture { frame.captureTime = time }
            if let time = times.arrival { frame.receiveTime = time }
            frame.wallClock = times.wallClock
        }
        if timeline > shownTimeline {
            shownTimeline = timeline
            frame.flags.insert(.discontinuity)
        }
        if let matrix { frame.colorSpace.matrix = matrix }
        guard let range else { return }
        frame.colorSpace.range = range
        // The name of such a format implies full range.
        if let format = Self.unnamedRange[frame.pixelFormat.name] { frame.pixelFormat = format }
    }

    /// Returns the times of a picture's packet, and forgets them.
    private mutating func take(_ pts: Int64) -> Times? {
        guard let index = place(of: pts) else { return nil }
        defer { times[index] = nil }
        return times[index]
    }

    private func place(of pts: Int64) -> Int? {
        for distance in 1...Self.mostTimes {
            // From the newest on, because a decoder holds few pictures back.
            let index = (next + Self.mostTimes - distance) % Self.mostTimes
            if times.indices.contains(index), times[index]?.pts == pts { return index }
        }
        return nil
    }

    private static let unnamedRange: [String: PixelFormat] = Dictionary(
        uniqueKeysWithValues: ["411p", "420p", "422p", "440p", "444p"].map { ("yuvj\($0)", PixelFormat("yuv\($0)")) })
}
