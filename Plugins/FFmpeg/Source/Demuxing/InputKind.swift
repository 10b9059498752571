/// The kind of a source's input. It determines the meaning of a read without a packet, and whether the source can be
/// reopened.
enum InputKind: Sendable, Hashable, CaseIterable {
    /// An ordinary file.
    case file
    /// Standard input, or a FIFO or device that delivers a recording: it ends when its last writer closes it.
    case pipe
    /// A FIFO or device that a camera program writes: if the writer exits, another is expected.
    case livePipe
    /// A recording on a server.
    case networkFile
    /// A network stream that continues until it fails.
    case liveNetwork

    /// Whether the end of the data is the end of the stream and not a failure.
    var hasEnd: Bool {
        switch self {
        case .file, .pipe, .networkFile: true
        case .livePipe, .liveNetwork: false
        }
    }

    /// Whether the input is on a server, with separate failure codes and time limits.
    var isNetwork: Bool {
        switch self {
        case .file, .pipe, .livePipe: false
        case .networkFile, .liveNetwork: true
        }
    }
}
