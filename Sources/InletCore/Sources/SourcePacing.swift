/// How a source's frames come.
public enum SourcePacing: String, Sendable, Hashable, CaseIterable {
    /// The world makes them when it does, and a frame not taken is gone: cameras and networks.
    case live
    /// The source holds each frame back until its time has come: a file played at its own speed.
    case realtime
    /// As fast as they are taken: a file read for conversion. Timestamps then run ahead of the clock.
    case unpaced = "none"
}
