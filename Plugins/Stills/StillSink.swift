import Glibc
import InletCore
import InletFFmpeg
import InletOutput

/// Writes frames as still pictures, one per file.
final class StillSink: FrameSink {
    private let configuration: StillSinkConfiguration
    private let subject: String
    private let encoder: Encoder
    private var pattern: FileNamePattern?
    private var hasTaken = false
    /// The number of the latest still.
    private var number = 0

    private enum Encoder {
        case jpeg(JPEGEncoder)
        case png(PNGEncoder)
    }

    init(_ configuration: StillSinkConfiguration) {
        self.configuration = configuration
        subject = configuration.redactedURI
        encoder =
            switch configuration.format {
            case .jpeg: .jpeg(JPEGEncoder(quality: configuration.quality))
            case .png: .png(PNGEncoder(compression: configuration.compression))
            }
    }

    var wants: SinkWants {
        var wants = SinkWants(largestSize: configuration.largestSize, rotation: .applied, squarePixels: true)
        wants.filters = configuration.filters
        // The bridge drops the other frames before they are converted.
        if case .every(let interval) = configuration.taking {
            // Nothing is lost: a rational holds 64-bit numbers. `start` refuses what is not above zero.
            wants.maximumFrameRate = Rational(1_000_000_000, max(1, Int(interval.wholeNanoseconds)))
        }
        return wants
    }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        do throws(InletError) {
            let pattern = try configuration.validated()
            number = pattern.highestNumber
            self.pattern = pattern
        } catch {
            throw error.about(subject)
        }
    }

    func consume(_ frame: VideoFrame) throws {
        guard let pattern, !frame.flags.contains(.placeholder) else { return }
        switch configuration.taking {
        case .once where hasTaken: throw SinkStopped()
        case .keyFrames where !frame.flags.contains(.key): return
        default: break
        }
        hasTaken = true
        do throws(InletError) {
            try encode(frame) { bytes throws(InletError) in try write(bytes, of: frame, to: pattern) }
        } catch {
            var error = error.about(subject)
            error.context.sequence = frame.sequence
            throw error
        }
    }

    private func encode(
        _ frame: VideoFrame, _ write: (RawSpan) throws(InletError) -> Void
    ) throws(InletError) {
        switch encoder {
        case .jpeg(let encoder): try encoder.encode(frame.buffer, colorSpace: frame.colorSpace, write)
        case .png(let encoder): try encoder.encode(frame.buffer, colorSpace: frame.colorSpace, write)
        }
    }

    private func write(_ bytes: RawSpan, of frame: VideoFrame, to pattern: FileNamePattern) throws(InletError) {
        let time = frame.wallClock ?? StagedFile.now
        number += 1
        guard pattern.varies, !configuration.overwrites else {
            let path = pattern.path(number: number, time: time, sequence: frame.sequence)
            return try StagedFile.write(
                bytes, to: path, mode: configuration.mode, overwrites: configuration.overwrites)
        }
        while true {
            let path = pattern.freePath(number: &number, time: time, sequence: frame.sequence)
            do throws(InletError) {
                return try StagedFile.write(bytes, to: path, mode: configuration.mode, overwrites: false)
            } catch {
                // Another program has created this name in the meantime; continue with the next one.
                guard error.context.nativeCode == EEXIST else { throw error }
            }
        }
    }
}
