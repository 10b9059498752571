/// What a source reads from, as far as that decides what a read without a packet means, and whether the source can be
/// opened again.
enum InputKind: Sendable, Hashable, CaseIterable {
    /// An ordinary file.
    case file
    /// Standard input, a FIFO or a device from which a recording comes: it is over when its last writer closes it.
    case pipe
    /// A FIFO or a device that a camera's program writes: a writer that is gone is to come back.
    case livePipe
    /// A recording on a server.
    case networkFile
    /// A network stream that goes on until it fails.
    case liveNetwork

    /// Whether the end of the data is the end of the stream, and no failure.
    var hasEnd: Bool {
        switch self {
        case .file, .pipe, .networkFile: true
        case .livePipe, .liveNetwork: false
        }
    }

    /// Whether a server is asked, which has its own codes for failures and its own limits of time.
    var isNetwork: Bool {
        switch self {
        case .file, .pipe, .livePipe: false
        case .networkFile, .liveNetwork: true
        }
    }
}
