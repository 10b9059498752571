import InletConvert
import InletCore
import InletRTC

/// Replaces the pictures of a disabled track, a few times a second: sufficient for players, and nearly free.
struct TrackPictures {
    private let track: SentTrack
    private var picture: I420Buffer?
    private var drawn = DisabledPicture.nothing
    private var next: MonotonicTime?
    private static let interval = Duration.milliseconds(200)
    private static let words = ["Camera off"]

    init(_ track: SentTrack) { self.track = track }

    /// - Returns: the picture for peers at the time of a frame: the frame, another picture, or nil.
    mutating func picture(for frame: VideoFrame) throws(InletError) -> VideoFrame? {
        guard !track.isWithdrawn else { return nil }
        guard !track.isEnabled else { return frame }
        let kind = track.disabledPicture
        guard kind != .nothing, next.map({ frame.timestamp >= $0 }) ?? true else { return nil }
        next = frame.timestamp + Self.interval
        var replaced = frame
        if let picture, picture.size == frame.size, kind == drawn {
            replaced.buffer = picture
        } else {
            var draft = try I420Draft(size: frame.size)
            if kind == .text {
                draft.fill(y: PlaceholderText.background, u: 128, v: 128)
                PlaceholderText.draw(Self.words, into: &draft)
            } else {
                draft.fillBlack()
            }
            replaced.buffer = draft.publish()
            (picture, drawn) = (replaced.buffer, kind)
        }
        if kind == .text { replaced.colorSpace = PlaceholderText.colorSpace }
        return replaced
    }
}
