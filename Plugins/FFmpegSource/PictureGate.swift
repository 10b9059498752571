/// Keeps back what a loss has damaged until the picture is whole again.
///
/// It looks at the stream twice: at packets, of which none is worth decoding between a loss and the next key frame, and at pictures, which the
/// decoder may find damaged where nothing told of a loss.
struct PictureGate {
    private let policy: DamagePolicy
    /// Whether packets may be left out: a file is decoded throughout, as a seek or a cut in it is no loss.
    private let skipsPackets: Bool
    /// Pictures lack something since a loss. A live stream, which is joined in its middle, begins so.
    private(set) var isBroken: Bool
    /// A key frame has been sent to the decoder since the loss.
    private var hasKey = false
    /// Packets refused in a row.
    private(set) var refusals = 0

    /// A stream without one key frame in so many packets refreshes its picture in another way: the decoder then says what is whole.
    private static let patience = 600

    init(_ policy: DamagePolicy, isLive: Bool) {
        self.policy = policy
        skipsPackets = isLive && policy == .drop
        isBroken = isLive
    }

    enum Verdict { case deliver, mark, drop }

    /// Something of the stream is missing.
    mutating func noteLoss() {
        isBroken = true
        hasKey = false
    }

    /// Whether a packet is worth decoding. The first key frame after a loss is, and all that follows it.
    mutating func admits(isKey: Bool) -> Bool {
        guard isBroken else { return true }
        if isKey { hasKey = true }
        guard skipsPackets else { return true }
        if isKey || refusals >= Self.patience {
            isBroken = false
            refusals = 0
            return true
        }
        refusals += 1
        return false
    }

    /// Decides on the next picture.
    mutating func judge(isKey: Bool, isDamaged: Bool) -> Verdict {
        if isDamaged {
            noteLoss()
        } else if isKey || hasKey {
            isBroken = false
        }
        guard isBroken else { return .deliver }
        return switch policy {
        case .drop: .drop
        case .mark: .mark
        case .show: .deliver
        }
    }
}
