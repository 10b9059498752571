public import InletCore

/// A sink that discards every frame: `null:`. Use it for measurements, or to run a source only for its events.
public struct NullSinkConfiguration: FrameSinkConfiguration, Hashable {
    public init() {}

    /// The sink's URI, which holds no credentials.
    public var redactedURI: String { "null:" }

    /// Returns a sink with this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink { NullSink() }
}

/// Writes planes one after another, without padding or headers: `i420:out.yuv`.
///
/// A picture of a different size than the first is rejected with ``InletError/Code/unsupported``.
public struct I420SinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The file. It is created when the sink starts and replaces an existing file. `-` is standard output. A symbolic
    /// link is rejected.
    public var path: String
    /// The permissions of the file. The default is ``FileMode/owner``.
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
/// A picture of a different size than the first is rejected with ``InletError/Code/unsupported``. The file has no
/// timestamps and only one frame rate: the rate that the source states, or else the inverse of its time base.
public struct Y4MSinkConfiguration: FrameSinkConfiguration, Hashable {
    /// The file. It is created when the sink starts and replaces an existing file. `-` is standard output. A symbolic
    /// link is rejected.
    public var path: String
    /// The permissions of the file. The default is ``FileMode/owner``.
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
    /// The file. It is created when the sink starts and replaces an existing file. `-` is standard output. A symbolic
    /// link is rejected.
    public var path: String
    /// The permissions of the file. The default is ``FileMode/owner``.
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
