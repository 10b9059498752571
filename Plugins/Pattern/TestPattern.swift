public import InletCore

/// The pictures that ``PatternSource`` draws.
public enum TestPattern: String, Sendable, Hashable, ChoiceOptionValue {
    /// Colour bars: SMPTE RP 219-1 from 720 lines up, SMPTE EG 1 below.
    case smpte
    /// Black and white squares, an eighth of the shorter side wide.
    case checkerboard
    /// Luma increases to the right, U decreases and V increases towards the bottom: every plane over its whole limited
    /// range.
    case gradient
    /// Rings whose frequency increases with the distance from the centre, up to a cycle every two pixels at the nearer
    /// edge.
    case zone
    /// A ball that bounces off the edges; the seed determines its start and direction.
    case ball
    /// Noise in every plane, different in each frame; the seed determines it.
    case noise
    /// One colour.
    case solid
    /// Blocks that encode the frame's number and capture time in the layout of ``TimecodeLayout``, above a moving bar.
    case timecode

    /// Whether all frames are the same, so that one picture is drawn and shared.
    var isStill: Bool {
        switch self {
        case .smpte, .checkerboard, .gradient, .zone, .solid: true
        case .ball, .noise, .timecode: false
        }
    }
}
