public import InletCore

/// What becomes of pictures that lack something after a loss.
public enum DamagePolicy: String, Sendable, Hashable, CaseIterable, ChoiceOptionValue {
    /// They are dropped and counted as ``DropReason/damaged`` until the picture is whole again. The default.
    case drop
    /// They are delivered with ``FrameFlags/corrupt``.
    case mark
    /// They are delivered like all others.
    case show
}
