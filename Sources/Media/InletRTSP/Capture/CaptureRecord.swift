/// A single event of a captured session.
///
/// The layout is described in `Docs/reference/rtsp-capture.md`: 16 bytes of head, numbers in network order, and the
/// bytes of the record.
package struct CaptureRecord: Sendable, Equatable {
    /// The kind of event.
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// Bytes were read from the RTSP connection, with one call.
        case received = 1
        /// Bytes were given to the RTSP connection.
        case sent = 2
        /// A datagram arrived on the port for RTP.
        case packet = 3
        /// A datagram arrived on the port for RTCP.
        case report = 4
        /// A datagram with RTCP was sent.
        case sentReport = 5
        /// A connection was opened. The bytes are a text such as `rtsp` or `rtsps`.
        case opened = 6
        /// The connection ended, or could not be opened. The bytes are `ended` or the code of an error.
        case closed = 7
        /// Everything due by this time was done: time-outs, keep-alives, reports, pictures that waited for more
        /// packets.
        case timer = 8
        /// The client ended the session.
        case stopped = 9
        /// The session was to continue over TCP, as too many packets were lost.
        case lossy = 10

        /// The most bytes of a record of this kind.
        package var longest: Int {
            switch self {
            case .received, .sent: 1 << 20
            case .packet, .report, .sentReport: 65_536
            case .opened, .closed: 256
            case .timer, .stopped, .lossy: 0
            }
        }
    }

    /// The kind as a number; one that this version does not know is skipped by players.
    package var kind: UInt8
    /// Whether more bytes, or another datagram, had arrived after these.
    package var hasMore: Bool
    /// Nanoseconds since the capture began.
    package var time: Int64
    /// The bytes.
    package var bytes: [UInt8]

    /// The kind; nil if this version does not know it.
    package var knownKind: Kind? { Kind(rawValue: kind) }

    package init(_ kind: Kind, time: Int64, hasMore: Bool = false, bytes: [UInt8] = []) {
        self.init(kind: kind.rawValue, hasMore: hasMore, time: time, bytes: bytes)
    }

    init(kind: UInt8, hasMore: Bool, time: Int64, bytes: [UInt8]) {
        self.kind = kind
        self.hasMore = hasMore
        self.time = time
        self.bytes = bytes
    }

    /// The number of bytes before the record's own.
    package static let headLength = 16
    /// The most bytes of a record of an unknown kind.
    static let longestUnknown = 1 << 20
    /// The latest time: a year.
    static let latest: Int64 = 366 * 86_400 * 1_000_000_000
    /// The flag of ``hasMore``.
    static let moreFlag: UInt8 = 1

    /// Appends the record as it is written.
    package func append(to output: inout [UInt8]) {
        let length = UInt32(clamping: bytes.count)
        let nanoseconds = UInt64(clamping: time)
        output += [kind, hasMore ? Self.moreFlag : 0, 0, 0]
        for shift in stride(from: 24, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: length >> UInt32(shift)))
        }
        for shift in stride(from: 56, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: nanoseconds >> UInt64(shift)))
        }
        output += bytes
    }
}
