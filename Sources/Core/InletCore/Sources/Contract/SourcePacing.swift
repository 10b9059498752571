/// How a source's frames are paced.
public enum SourcePacing: String, Sendable, Hashable, CaseIterable {
    /// Frames are made by the outside world, and a frame not taken is lost: cameras and networks.
    case live
    /// The source holds each frame back until it is due: a file played at its own speed.
    case realtime
    /// Frames are made as fast as they are taken: a file read for conversion. Timestamps then run ahead of the clock.
    case unpaced = "none"
}
