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

    init(_ policy: DamagePolicy, isLive: Bool) {
        self.policy = policy
        skipsPackets = isLive && policy == .drop
        isBroken = isLive
    }

    enum Verdict { case deliver, mark, drop }

    /// Something of the stream is missing.
    mutating func noteLoss() { isBroken = true }

    /// Whether a packet is worth decoding. The first key frame after a loss is, and all that follows it.
    mutating func admits(isKey: Bool) -> Bool {
        guard skipsPackets, isBroken else { return true }
        if isKey { isBroken = false }
        return isKey
    }

    /// Decides on the next picture.
    mutating func judge(isKey: Bool, isDamaged: Bool) -> Verdict {
        if isDamaged {
            isBroken = true
        } else if isKey {
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
