/// Whether luma uses 16-235 (limited, "TV") or 0-255 (full, "PC").
public enum ColorRange: String, Sendable, Hashable, CaseIterable {
    /// The source did not state a range. Video is limited by convention.
    case unspecified = "unknown"
    case limited = "tv"
    case full = "pc"
}
