import InletCapture
import InletCore
import Logging
import PatternSource
import Synchronization
import Testing

/// Reads a screen source on a thread of a test.
final class ScreenReader {
    let source: any FrameSource
    let format: SourceFormat
    private let context = SourceContext(clock: SystemClock(), logger: Logger(label: "test"))

    init(_ source: any FrameSource, limit: Duration = .seconds(20)) throws {
        self.source = source
        context.setDeadline(after: limit)
        do {
            format = try source.open(context)
        } catch {
            source.close()
            throw error
        }
    }

    deinit { source.close() }

    func next(within limit: Duration = .seconds(20)) throws -> SourceFrame {
        context.setDeadline(after: limit)
        return try #require(try source.next(context)?.frame)
    }

    /// Returns the first of the next few pictures that meets a condition.
    func next(where isRight: (SourceFrame) -> Bool) throws -> SourceFrame {
        for _ in 0..<200 {
            let frame = try next()
            if isRight(frame) { return frame }
        }
        throw InletError(.timedOut, "No picture was as expected.")
    }
}

/// Reads the numbers in pictures.
final class NumberSink: FrameSink {
    /// The numbers read so far. Safe from any thread.
    final class Log: Sendable {
        fileprivate let seen = Mutex((numbers: [UInt32](), frames: 0, unread: 0, sizes: Set<ImageSize>()))
        /// The numbers, without repetitions.
        var numbers: [UInt32] { seen.withLock { $0.numbers } }
        var frames: Int { seen.withLock { $0.frames } }
        /// The number of pictures without a readable number.
        var unread: Int { seen.withLock { $0.unread } }
        var sizes: Set<ImageSize> { seen.withLock { $0.sizes } }
    }
    private let log: Log

    init(_ log: Log) { self.log = log }

    func consume(_ frame: VideoFrame) {
        let number = TimecodeReader.read(frame.buffer)?.frame
        log.seen.withLock { seen in
            seen.frames += 1
            seen.sizes.insert(frame.buffer.size)
            if number == nil { seen.unread += 1 }
            if let number, seen.numbers.last != number { seen.numbers.append(number) }
        }
    }
}
