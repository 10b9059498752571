public import InletCore

/// How to handle pictures that are incomplete after a loss.
public enum DamagePolicy: String, Sendable, Hashable, CaseIterable, ChoiceOptionValue {
    /// They are dropped and counted as ``DropReason/damaged`` until the picture is complete again. The default.
    case drop
    /// They are dropped as with ``drop``, but after 2 s without a complete picture they are delivered with
    /// ``FrameFlags/corrupt``, until the picture is complete again. A stream without a key frame at its beginning is
    /// delivered with that flag after 6 s, until a key frame arrives.
    case automatic
    /// They are delivered with ``FrameFlags/corrupt``.
    case mark
    /// They are delivered like all others.
    case show
}
