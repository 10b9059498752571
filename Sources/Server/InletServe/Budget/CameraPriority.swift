/// The importance of a camera relative to others when not all can have their full rate.
package enum CameraPriority: String, Sendable, Hashable, CaseIterable, Comparable {
    case low, normal, high

    package static func < (left: CameraPriority, right: CameraPriority) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        }
    }
}
