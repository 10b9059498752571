import InletCore
import InletTesting
import PatternSource
import ReferenceTools
import Synchronization

/// A sink that reads the timecode of each frame.
final class TimecodeSink: FrameSink {
    /// The values read from one frame.
    struct Reading: Sendable {
        /// The number in the picture; nil if it cannot be read.
        var number: Int?
        /// The time when the picture was drawn.
        var drawn: MonotonicTime?
        var timestamp: MonotonicTime
        /// The sender's own time, in seconds.
        var presentation: Double
        var sequence: UInt64
        var size: ImageSize
        var flags: FrameFlags
        var wallClock: Int64?
        var received: MonotonicTime?
        /// The number of samples that differ from the drawing; nil if they are not compared, or if the picture cannot
        /// be read.
        var misfits: Int?
    }

    /// The readings so far. Safe to read from any thread.
    final class Log: Sendable {
        private let list = Mutex<[Reading]>([])
        var readings: [Reading] { list.withLock { $0 } }
        var numbers: [Int] { readings.compactMap(\.number) }
        func add(_ reading: Reading) { list.withLock { $0.append(reading) } }

        /// The mistakes in the pictures of a ``CameraBrowser``, and jumps of more than 30 pictures.
        var cameraMistakes: [String] {
            let readings = readings
            let jumps = readings.indices.dropFirst().compactMap { place -> String? in
                guard let before = readings[place - 1].number, let number = readings[place].number else { return nil }
                let step = (number - before + CameraBrowser.frames) % CameraBrowser.frames
                return step <= 30 ? nil : "\(place): \(number) after \(before)"
            }
            let times = readings.map { $0.presentation.isFinite ? Int(($0.presentation * 1e6).rounded()) : 0 }
            return jumps + CameraBrowser.mistakes(in: readings.map(\.number), at: times)
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
