public import InletCore

/// A sink that throws every frame away: `null:`. For measurements, and to run a source for its events.
public struct NullSinkConfiguration: FrameSinkConfiguration, Hashable {
    public init() {}

    /// The sink by its URI, which holds no credentials.
    public var redactedURI: String { "null:" }

    /// A sink of this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink { NullSink() }
}

/// Planes one after another, without padding or headers: `i420:out.yuv`.
///
/// A picture of another size than the first is refused with ``InletError/Code/unsupported``.
public struct I420SinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The file, made when the sink starts, in place of one of the same name; `-` is standard output. A symbolic link
    /// is refused.
    public var path: String
    /// Who may read the file. The default is ``FileMode/owner``.
    public var mode: FileMode

    /// A sink that writes to a path.
    public init(path: String, mode: FileMode = .owner) { (self.path, self.mode) = (path, mode) }

    /// The sink by its URI, which holds no credentials.
    public var redactedURI: String { "i420:\(path)" }

    /// A sink of this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink {
        PlanarFileSink(path: path, mode: mode, layout: .i420, subject: redactedURI)
    }
}

/// YUV4MPEG2, which most video programs read: `y4m:out.y4m`.
///
/// A picture of another size than the first is refused with ``InletError/Code/unsupported``. The file has one frame
/// rate and no timestamps: the rate that the source states, else the inverse of its time base.
public struct Y4MSinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The file, made when the sink starts, in place of one of the same name; `-` is standard output. A symbolic link
    /// is refused.
    public var path: String
    /// Who may read the file. The default is ``FileMode/owner``.
    public var mode: FileMode

    /// A sink that writes to a path.
    public init(path: String, mode: FileMode = .owner) { (self.path, self.mode) = (path, mode) }

    /// The sink by its URI, which holds no credentials.
    public var redactedURI: String { "y4m:\(path)" }

    /// A sink of this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink {
        PlanarFileSink(path: path, mode: mode, layout: .y4m, subject: redactedURI)
    }
}

/// A line with PTS and MD5 sum a frame, comparable with FFmpeg's framemd5: `framemd5:-`.
public struct FrameMD5SinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The file, made when the sink starts, in place of one of the same name; `-` is standard output. A symbolic link
    /// is refused.
    public var path: String
    /// Who may read the file. The default is ``FileMode/owner``.
    public var mode: FileMode

    /// A sink that writes to a path.
    public init(path: String, mode: FileMode = .owner) { (self.path, self.mode) = (path, mode) }

    /// The sink by its URI, which holds no credentials.
    public var redactedURI: String { "framemd5:\(path)" }

    /// A sink of this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink { FrameMD5Sink(path: path, mode: mode, subject: redactedURI) }
}
