public import InletCore

/// A sink that discards every frame: `null:`. For measurements, and to run a source for its events.
public struct NullSinkConfiguration: FrameSinkConfiguration, Hashable {
    public init() {}

    /// The sink's URI, which holds no credentials.
    public var redactedURI: String { "null:" }

    /// Returns a sink with this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink { NullSink() }
}

/// Writes planes one after another, without padding or headers: `i420:out.yuv`.
///
/// A picture of another size than the first is refused with ``InletError/Code/unsupported``.
public struct I420SinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The file, created when the sink starts; it replaces one of the same name. `-` is standard output. A symbolic
    /// link is refused.
    public var path: String
    /// Who may read the file. The default is ``FileMode/owner``.
    public var mode: FileMode
    /// The filters for pictures that they would change. The default is the empty set.
    public var filters: PictureFilters = []

    /// Creates a configuration for a path.
    public init(path: String, mode: FileMode = .owner) { (self.path, self.mode) = (path, mode) }

    /// The sink's URI, which holds no credentials.
    public var redactedURI: String { "i420:\(path)" }

    /// Returns a sink with this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink {
        PlanarFileSink(path: path, mode: mode, filters: filters, layout: .i420, subject: redactedURI)
    }
}

/// Writes YUV4MPEG2, which most video programs read: `y4m:out.y4m`.
///
/// A picture of another size than the first is refused with ``InletError/Code/unsupported``. The file has one frame
/// rate and no timestamps: the rate that the source states, else the inverse of its time base.
public struct Y4MSinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The file, created when the sink starts; it replaces one of the same name. `-` is standard output. A symbolic
    /// link is refused.
    public var path: String
    /// Who may read the file. The default is ``FileMode/owner``.
    public var mode: FileMode
    /// The filters for pictures that they would change. The default is the empty set.
    public var filters: PictureFilters = []

    /// Creates a configuration for a path.
    public init(path: String, mode: FileMode = .owner) { (self.path, self.mode) = (path, mode) }

    /// The sink's URI, which holds no credentials.
    public var redactedURI: String { "y4m:\(path)" }

    /// Returns a sink with this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink {
        PlanarFileSink(path: path, mode: mode, filters: filters, layout: .y4m, subject: redactedURI)
    }
}

/// Writes a line with PTS and MD5 sum per frame, comparable with FFmpeg's framemd5: `framemd5:-`.
public struct FrameMD5SinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The file, created when the sink starts; it replaces one of the same name. `-` is standard output. A symbolic
    /// link is refused.
    public var path: String
    /// Who may read the file. The default is ``FileMode/owner``.
    public var mode: FileMode
    /// The filters for pictures that they would change. The default is the empty set.
    public var filters: PictureFilters = []

    /// Creates a configuration for a path.
    public init(path: String, mode: FileMode = .owner) { (self.path, self.mode) = (path, mode) }

    /// The sink's URI, which holds no credentials.
    public var redactedURI: String { "framemd5:\(path)" }

    /// Returns a sink with this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink {
        FrameMD5Sink(path: path, mode: mode, filters: filters, subject: redactedURI)
    }
}
