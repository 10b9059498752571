import InletCore
import InletOutput

/// Writes pictures one after another, with or without YUV4MPEG2 headers.
final class PlanarFileSink: FrameSink {
    enum Layout {
        /// Only planes.
        case i420
        /// The headers that FFmpeg's yuv4mpegpipe muxer writes.
        case y4m
    }

    private let path: String
    private let mode: FileMode
    private let filters: PictureFilters
    private let layout: Layout
    private let subject: String
    private var file: OutputFile?
    private var size = ImageSize(width: 0, height: 0)
    private let frameHeader: [UInt8]

    init(path: String, mode: FileMode, filters: PictureFilters, layout: Layout, subject: String) {
        self.path = path
        self.mode = mode
        self.filters = filters
        self.layout = layout
        self.subject = subject
        frameHeader = layout == .y4m ? Array("FRAME\n".utf8) : []
    }

    /// Neither layout states a rotation.
    var wants: SinkWants {
        var wants = SinkWants(rotation: .applied)
        wants.filters = filters
        return wants
    }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        let file = try OutputFile(path: path, mode: mode, subject: subject)
        if layout == .y4m { try file.write(Array(Y4MHeader(format).text.utf8)) }
        self.file = file
        size = format.size
    }

    func consume(_ frame: VideoFrame) throws {
        guard frame.size == size else {
            throw InletError(
                .unsupported,
                "The picture changed from \(size) to \(frame.size), but the file has one size. Fix the size with --size \(size).",
                context: .init(subject: subject, sequence: frame.sequence))
        }
        try file?.write(frameHeader, frame.buffer, sequence: frame.sequence)
    }

    func finish() throws {
        defer { file = nil }
        try file?.finish()
    }
}
