/// The clockwise rotation that shows a picture upright.
///
/// Metadata: the pixels of a frame are as the camera or file stores them until a sink asks for the rotation to be
/// applied.
public enum Rotation: Int, Sendable, Hashable, CaseIterable {
    case none = 0
    case clockwise90 = 90
    case clockwise180 = 180
    case clockwise270 = 270

    /// Makes the rotation nearest to an angle in degrees, clockwise; any multiple of a full turn may be added.
    public init(nearestTo degrees: Double) {
        guard degrees.isFinite else {
            self = .none
            return
        }
        let turns = (degrees / 90).rounded().truncatingRemainder(dividingBy: 4)
        self = Rotation(rawValue: ((Int(turns) + 4) % 4) * 90) ?? .none
    }

    /// Whether width and height change places when the rotation is applied.
    public var swapsDimensions: Bool { self == .clockwise90 || self == .clockwise270 }
}
