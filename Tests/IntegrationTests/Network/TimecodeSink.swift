import InletCore
import InletTesting
import PatternSource
import ReferenceTools
import Synchronization

/// Reads the timecode of each frame that it gets.
final class TimecodeSink: FrameSink {
    /// What one frame says.
    struct Reading: Sendable {
        /// The number in the picture; nil where it cannot be read.
        var number: Int?
        /// When the picture was drawn.
        var drawn: MonotonicTime?
        var timestamp: MonotonicTime
        /// The sender's own time, in seconds.
        var presentation: Double
        var sequence: UInt64
        var size: ImageSize
        var flags: FrameFlags
        var wallClock: Int64?
        var received: MonotonicTime?
        /// How many samples are not what was drawn; nil where that is not looked at, or cannot be read.
        var misfits: Int?
    }

    /// The readings so far. Safe from any thread.
    final class Log: Sendable {
        private let list = Mutex<[Reading]>([])
        var readings: [Reading] { list.withLock { $0 } }
        var numbers: [Int] { readings.compactMap(\.number) }
        func add(_ reading: Reading) { list.withLock { $0.append(reading) } }

        /// The pictures that are unreadable, or not those of a ``CameraBrowser`` in their order.
        ///
        /// Chromium's camera may give a picture twice on a busy machine. Chromium then sends it again with
        /// a new time, at least a millisecond later. A picture that this side delivers twice keeps its time.
        var cameraMistakes: [String] {
            let readings = readings
            return readings.indices.dropFirst().compactMap { place in
                let (last, next) = (readings[place - 1], readings[place])
                guard let before = last.number, let number = next.number else { return "\(place): unreadable" }
                let step = (number - before + CameraBrowser.frames) % CameraBrowser.frames
                let isRepeated = step == 0 && next.presentation - last.presentation > 0.0009
                guard !isRepeated, !(1...30).contains(step) else { return nil }
                return "\(place): \(before) at \(last.presentation) s, \(number) at \(next.presentation) s"
            }
        }
    }

    private let log: Log
    private let comparedRate: Int?

    /// - Parameter comparedRate: the pictures per second of a server with whose drawings each picture is compared. The
    ///   default is nil: only the number is read.
    init(_ log: Log, comparedRate: Int? = nil) {
        self.log = log
        self.comparedRate = comparedRate
    }

    func consume(_ frame: VideoFrame) {
        let code = TimecodeReader.read(frame.buffer)
        log.add(
            Reading(
                number: code.map { Int($0.frame) }, drawn: code?.captureTime, timestamp: frame.timestamp,
                presentation: frame.pts.map { Double($0.nanoseconds) / 1e9 } ?? .nan, sequence: frame.sequence,
                size: frame.size, flags: frame.flags, wallClock: frame.wallClock,
                received: frame.stages.received,
                misfits: comparedRate.flatMap { TimecodePicture.misfits(frame.buffer, rate: $0) }))
    }
}
