/// What a token allows. Each scope includes those before it.
package enum AccessScope: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Looking: pictures, states, figures and events.
    case view
    /// Pausing, resuming and restarting.
    case control
    /// Changing what there is.
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
