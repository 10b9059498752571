/// Decides when a camera is interrupted, and why: its shutter is closed, or another program uses it.
///
/// If both apply, the other program is the reason, because the state of the shutter is then unknown.
struct CameraInterruption: Sendable, Equatable {
    /// A change that is reported to the bridge.
    enum Change: Sendable, Equatable {
        /// An interruption begins, or continues for another reason. The reason is a short text for people.
        case begin(String)
        case end
    }

    /// The handling of pictures while the camera's shutter is closed.
    private let policy: V4L2Configuration.ShutterPolicy
    private var isCovered = false
    /// The programs that use the camera, empty if they are unknown; nil while this process has it.
    private var holders: [String]?

    init(_ policy: V4L2Configuration.ShutterPolicy = .interrupt) { self.policy = policy }

    /// Whether pictures are withheld because the shutter is closed.
    var withholdsPictures: Bool { isCovered && policy == .interrupt }

    /// Whether another program uses the camera.
    var isTaken: Bool { holders != nil }

    /// The reason for the interruption; nil without an interruption.
    var reason: String? {
        if let holders {
            return switch holders.count {
            case 0: "another program uses the camera"
            case 1: "\(holders[0]) uses the camera"
            default: "\(holders.joined(separator: " and ")) use the camera"
            }
        }
        return withholdsPictures ? "the camera's shutter is closed" : nil
    }

    /// Records the state of the shutter.
    mutating func noteShutter(isClosed: Bool) -> Change? { change { $0.isCovered = isClosed } }

    /// Records that the device was busy.
    mutating func noteTaken(by names: [String]) -> Change? { change { $0.holders = names } }

    /// Records that this process has the device.
    mutating func noteOwned() -> Change? { change { $0.holders = nil } }

    private mutating func change(_ body: (inout Self) -> Void) -> Change? {
        let before = reason
        body(&self)
        guard reason != before else { return nil }
        return reason.map { .begin($0) } ?? .end
    }
}
