/// The permissions of a token. Each scope includes the ones before it.
package enum AccessScope: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Viewing pictures, states, statistics and events.
    case view
    /// Pausing, resuming and restarting cameras.
    case control
    /// Changing the configuration.
    case admin

    package static func < (left: AccessScope, right: AccessScope) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .view: 0
        case .control: 1
        case .admin: 2
        }
    }
}
