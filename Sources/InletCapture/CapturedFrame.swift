import InletConvert
import InletCore
import Synchronization

/// One captured frame on its way to any number of sinks: native until the first of them takes it, then I420 for all.
final class CapturedFrame: Sendable {
    let timestamp: MonotonicTime
    let sequence: UInt64
    let pts: MediaTime?
    let stages: StageTimes
    private let template: Template
    private let state: Mutex<State>

    /// What a delivered frame takes over from the native one.
    private struct Template {
        var duration: MediaTime?
        var rotation: Rotation
        var flags: FrameFlags
        var sampleAspectRatio: Rational?
        var wallClock: Int64?
    }

    private enum State {
        case native(SourceFrame)
        case converted(I420Picture, scaled: [I420Buffer])
        case failed(InletError)
    }

    init(_ frame: SourceFrame, timestamp: MonotonicTime, stages: StageTimes) {
        self.timestamp = timestamp
        self.stages = stages
        sequence = frame.sequence
        pts = frame.pts
        template = Template(
            duration: frame.duration, rotation: frame.rotation, flags: frame.flags,
            sampleAspectRatio: frame.sampleAspectRatio, wallClock: frame.wallClock)
        state = Mutex(.native(frame))
    }

    /// The frame as a sink gets it, in its own size or scaled to `size`.
    ///
    /// The first caller converts; the others get the same pixels. The native picture is let go of as soon as it is converted.
    func videoFrame(size: ImageSize?, with context: ConversionContext) throws(InletError) -> VideoFrame {
        let result = state.withLock { state -> Result<I420Picture, InletError> in
            do throws(InletError) {
                return .success(try Self.picture(&state, size: size, with: context))
            } catch {
                return .failure(error)
            }
        }
        let picture = try result.get()
        var frame = VideoFrame(
            buffer: picture.buffer, timestamp: timestamp, pts: pts, duration: template.duration, sequence: sequence,
            colorSpace: picture.colorSpace, rotation: template.rotation, flags: template.flags,
            sampleAspectRatio: template.sampleAspectRatio, wallClock: template.wallClock, stages: stages)
        if let size, let original = originalSize, size != original {
            frame.sampleAspectRatio = frame.sampleAspectRatio.flatMap { $0.scaled(from: original, to: size) }
        }
        return frame
    }

    private var originalSize: ImageSize? {
        state.withLock {
            if case .converted(let picture, _) = $0 { picture.buffer.size } else { nil }
        }
    }

    private static func picture(
        _ state: inout State, size: ImageSize?, with context: ConversionContext
    ) throws(InletError) -> I420Picture {
        switch state {
        case .failed(let error): throw error
        case .native(let frame):
            do throws(InletError) {
                let picture = try context.converter.i420(from: frame, pool: context.pool)
                context.countConversion()
                state = .converted(picture, scaled: [])
            } catch {
                // A pool that is exhausted now may serve the next sink that asks.
                if error.code != .resourceExhausted { state = .failed(error) }
                throw error
            }
        case .converted: break
        }
        guard case .converted(var picture, var scaled) = state else {
            throw InletError(.internal, "A frame was lost in its conversion.")
        }
        guard let size, size != picture.buffer.size else { return picture }
        if let known = scaled.first(where: { $0.size == size }) {
            picture.buffer = known
        } else {
            let buffer = try context.converter.scaled(picture.buffer, to: size, pool: context.scalingPool)
            scaled.append(buffer)
            state = .converted(picture, scaled: scaled)
            picture.buffer = buffer
        }
        return picture
    }
}

/// What one sink brings to a conversion.
struct ConversionContext: Sendable {
    let converter: FrameConverter
    /// Pictures at the source's size, shared by all sinks.
    let pool: I420BufferPool
    /// Pictures at this sink's size.
    let scalingPool: I420BufferPool
    let countConversion: @Sendable () -> Void
}

extension Rational {
    /// A pixel aspect ratio after a picture was stretched, or nil where it no longer fits in 32 bits.
    fileprivate func scaled(from: ImageSize, to: ImageSize) -> Rational? {
        let (width, overflow) = (numerator * from.width).multipliedReportingOverflow(by: to.height)
        let (height, overflowed) = (denominator * from.height).multipliedReportingOverflow(by: to.width)
        guard !overflow, !overflowed, height != 0 else { return nil }
        let ratio = Rational(width, height)
        return Rational(exactly: ratio.numerator, over: ratio.denominator)
    }
}
