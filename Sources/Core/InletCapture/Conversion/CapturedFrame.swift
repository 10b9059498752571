import InletConvert
import InletCore
import Synchronization

/// A captured frame on its way to any number of sinks: native until the first of them takes it, then I420 for all. If
/// a sink's queue loses nothing, the frame is converted when it is offered.
///
/// Every step of a conversion is done once, by the sink that asks first, and shared by all that want the same: I420 at
/// the source's size, each wanted part and size, each rotated picture.
final class CapturedFrame: Sendable {
    /// The adapted pictures that one frame keeps for other sinks. Beyond that many kinds, each sink makes its own.
    static let sharedAdaptations = 16

    let timestamp: MonotonicTime
    let sequence: UInt64
    let pts: MediaTime?
    let stages: StageTimes
    /// Whether it is a placeholder rather than a frame of the source.
    var isPlaceholder: Bool { template.flags.contains(.placeholder) }
    private let shape: PictureShape
    private let template: Template
    private let native: Mutex<Native>
    private let adapted = Mutex([AdaptedPicture]())
    private let filtering = Mutex(Filtering())
    /// A bit for each sink for which it was converted ahead of its turn.
    private let ahead = Atomic(UInt64(0))

    /// The properties that a delivered frame takes from the native one.
    private struct Template {
        var colorSpace: ColorSpace
        var duration: MediaTime?
        var flags: FrameFlags
        var wallClock: Int64?
        var fieldOrder: FieldOrder
        /// Whether the native picture is I420, so that no conversion is needed.
        var isI420: Bool
        /// The filters that would change the frame.
        var filters: PictureFilters
    }

    /// The input of filters, and their results.
    private struct Filtering {
        /// The native picture; nil if no receiver wanted a filter for it when it came.
        var picture: SourceFrame?
        /// The pictures around it, if they belong to it.
        var previous: SourceFrame?
        var next: SourceFrame?
        var made: [PictureFilters: Result<I420Picture, InletError>] = [:]
    }

    private enum Native {
        case frame(SourceFrame)
        case converted(I420Picture)
        case failed(InletError)
    }

    /// A picture that several sinks may want; the first of them makes it while the others wait.
    private final class AdaptedPicture: Sendable {
        let adaptation: FrameAdaptation
        let buffer = Mutex(I420Buffer?.none)

        init(_ adaptation: FrameAdaptation) { self.adaptation = adaptation }
    }

    init(_ frame: SourceFrame, timestamp: MonotonicTime, stages: StageTimes) {
        self.timestamp = timestamp
        self.stages = stages
        sequence = frame.sequence
        pts = frame.pts
        shape = PictureShape(
            size: frame.size, rotation: frame.rotation, sampleAspectRatio: frame.sampleAspectRatio)
        template = Template(
            colorSpace: frame.colorSpace, duration: frame.duration, flags: frame.flags, wallClock: frame.wallClock,
            fieldOrder: frame.fieldOrder, isI420: frame.pixelFormat == .yuv420p, filters: .changing(frame))
        native = Mutex(.frame(frame))
    }

    /// Records that a sink's picture was made ahead of its turn, so that the time for it is counted once.
    func noteConvertedAhead(for sink: SinkID) { ahead.bitwiseOr(1 << UInt64(sink.number & 63), ordering: .relaxed) }

    /// Whether a sink's picture was made ahead of its turn. With more than 64 sinks, some share an answer.
    func wasConvertedAhead(for sink: SinkID) -> Bool {
        ahead.load(ordering: .relaxed) & 1 << UInt64(sink.number & 63) != 0
    }

    /// Keeps the native picture, and the one before it if there is one that belongs to it, for filters. Called before
    /// the frame is offered.
    func keep(_ picture: SourceFrame, previous: SourceFrame?) {
        filtering.withLock { ($0.picture, $0.previous) = (picture, previous) }
    }

    /// Sets the picture after this one, for filters. Called before the frame is offered to receivers that want them.
    func setNext(_ next: SourceFrame) { filtering.withLock { $0.next = next } }

    /// Returns the adaptation of this frame that a sink's wants require.
    ///
    /// - Parameter filtering: the filters of the capture. The default, nil, has none.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if they cannot be fulfilled.
    func adaptation(
        to wants: SinkWants, by filtering: PictureFiltering? = nil
    ) throws(InletError) -> FrameAdaptation {
        var adaptation = try FrameAdaptation(wants, to: shape)
        let filters = wants.filters.intersection(template.filters)
        if !filters.isEmpty, let filtering { adaptation.filters = filtering.available(filters) }
        return adaptation
    }

    /// Returns whether a sink gets the native picture itself: nothing is converted, filtered, scaled or rotated for it.
    func isNative(for wants: SinkWants) -> Bool {
        guard template.isI420, wants.filters.isDisjoint(with: template.filters) else { return false }
        return (try? FrameAdaptation(wants, to: shape))?.isIdentity(for: shape) ?? false
    }

    /// Returns the shape of the frame as a sink would get it, without converting it. Its colours are the source's, or
    /// those after tone mapping.
    func format(as adaptation: FrameAdaptation) -> FrameShape {
        FrameShape(
            size: adaptation.turn.swapsDimensions ? adaptation.size.transposed : adaptation.size,
            timeBase: pts?.timeBase,
            colorSpace: adaptation.filters.contains(.toneMapping) ? .bt709 : template.colorSpace,
            rotation: adaptation.turn == .none ? shape.rotation : .none,
            sampleAspectRatio: adaptation.sampleAspectRatio(of: shape),
            fieldOrder: adaptation.fieldOrder(template.fieldOrder, of: shape))
    }

    /// Returns the frame as a sink gets it.
    ///
    /// The first caller converts; the others get the same pixels. The native picture is released as soon as it is
    /// converted.
    func videoFrame(_ adaptation: FrameAdaptation, with context: ConversionContext) throws(InletError) -> VideoFrame {
        let picture =
            adaptation.filters.isEmpty
            ? try picture(with: context) : try filtered(by: adaptation.filters, with: context)
        var (buffer, colorSpace) = (picture.buffer, picture.colorSpace)
        if !adaptation.isIdentity(for: shape) {
            buffer = try adapted(buffer, adaptation, with: context)
            // The matrix can no longer be derived from the new size.
            colorSpace.matrix = colorSpace.assumed(for: shape.size).matrix
        }
        var frame = VideoFrame(
            buffer: buffer, timestamp: timestamp, pts: pts, duration: template.duration, sequence: sequence,
            colorSpace: colorSpace, rotation: adaptation.turn == .none ? shape.rotation : .none,
            flags: template.flags, sampleAspectRatio: adaptation.sampleAspectRatio(of: shape),
            wallClock: template.wallClock, stages: stages)
        frame.fieldOrder = adaptation.fieldOrder(template.fieldOrder, of: shape)
        return frame
    }

    /// Returns the whole picture as I420, made once.
    private func picture(with context: ConversionContext) throws(InletError) -> I420Picture {
        // `Mutex.withLock` passes on a typed error only by way of a result here.
        let result = native.withLock { native -> Result<I420Picture, InletError> in
            switch native {
            case .converted(let picture): return .success(picture)
            case .failed(let error): return .failure(error)
            case .frame(let frame):
                do throws(InletError) {
                    let picture = try context.converter.i420(from: frame, pool: context.pool)
                    context.countConversion()
                    native = .converted(picture)
                    return .success(picture)
                } catch {
                    // A pool that is exhausted now may have a buffer for the next sink that asks.
                    if error.code != .resourceExhausted { native = .failed(error) }
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }

    /// Returns the whole picture as I420 after filters, made once.
    private func filtered(
        by filters: PictureFilters, with context: ConversionContext
    ) throws(InletError) -> I420Picture {
        // Filters run one at a time anyway.
        let result = filtering.withLock { state -> Result<I420Picture, InletError> in
            if let made = state.made[filters] { return made }
            let result = Result { () throws(InletError) in try filter(state, filters, with: context) }
            if case .failure(let error) = result, error.code == .resourceExhausted { return result }
            state.made[filters] = result
            return result
        }
        return try result.get()
    }

    private func filter(
        _ state: borrowing Filtering, _ filters: PictureFilters, with context: ConversionContext
    ) throws(InletError) -> I420Picture {
        var native: SourceFrame
        if let kept = state.picture {
            native = kept
        } else {
            // A receiver that was attached, or changed its wants, after the frame came.
            let picture = try picture(with: context)
            native = SourceFrame(picture.buffer, pts: pts, sequence: sequence, colorSpace: picture.colorSpace)
            native.fieldOrder = template.fieldOrder
        }
        if let filtering = context.filtering {
            native = try filtering.filtered(native, previous: state.previous, next: state.next, by: filters)
        }
        let picture = try context.converter.i420(from: native, pool: context.pool)
        context.countConversion()
        return picture
    }

    /// Returns the picture cropped, scaled and rotated, made once for all sinks that want the same.
    private func adapted(
        _ whole: I420Buffer, _ adaptation: FrameAdaptation, with context: ConversionContext
    ) throws(InletError) -> I420Buffer {
        let shared: AdaptedPicture? = adapted.withLock { pictures in
            if let known = pictures.first(where: { $0.adaptation == adaptation }) { return known }
            guard pictures.count < Self.sharedAdaptations else { return nil }
            let new = AdaptedPicture(adaptation)
            pictures.append(new)
            return new
        }
        guard let shared else { return try make(adaptation, of: whole, with: context) }
        // Only sinks that want this very picture wait for it. A rotated picture takes the lock of the one it is made
        // from while it holds its own, never the other way round.
        let result = shared.buffer.withLock { buffer -> Result<I420Buffer, InletError> in
            if let buffer { return .success(buffer) }
            do throws(InletError) {
                let made = try make(adaptation, of: whole, with: context)
                buffer = made
                return .success(made)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func make(
        _ adaptation: FrameAdaptation, of whole: I420Buffer, with context: ConversionContext
    ) throws(InletError) -> I420Buffer {
        if adaptation.turn != .none {
            let upright = adaptation.unturned
            let source = upright.isIdentity(for: shape) ? whole : try adapted(whole, upright, with: context)
            return try context.converter.rotated(source, by: adaptation.turn, pool: context.turningPool)
        }
        let cut = if let crop = adaptation.crop { try whole.cropped(to: crop) } else { whole }
        return try context.converter.scaled(cut, to: adaptation.size, pool: context.scalingPool)
    }
}
