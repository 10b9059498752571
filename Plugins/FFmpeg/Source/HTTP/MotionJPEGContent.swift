import InletCore

/// The kind of a response's JPEG content, determined by its Content-Type and the first bytes of its body.
struct MotionJPEGContent {
    /// The type in lower case, without parameters; empty if none was stated.
    private let type: String
    private let beginsWithPicture: Bool
    private let beginsWithBoundary: Bool

    /// - Parameter beginning: the first bytes; four are sufficient.
    init(_ beginning: [UInt8], contentType: String) {
        type = contentType.prefix(upToByte: ";").trimmed().lowercasedASCII
        beginsWithPicture = beginning.starts(with: [0xFF, 0xD8, 0xFF])
        // An empty line may precede the first boundary (RFC 2046, section 5.1.1).
        let line = beginning.drop { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        beginsWithBoundary = line.starts(with: "--".utf8)
    }

    private static let streamTypes = ["video/mjpeg", "video/x-mjpeg", "video/x-motion-jpeg", "video/x-jpeg"]

    /// Whether pictures follow one another. A stated type of other content is wrong if the data begins with a picture.
    var isStream: Bool {
        type.hasBytePrefix("multipart/") || Self.streamTypes.contains(type) || beginsWithPicture || beginsWithBoundary
    }

    /// Returns whether the content is a single picture.
    ///
    /// - Parameter hasLength: whether the server states a length, which it cannot do for a live stream.
    func isStill(hasLength: Bool) -> Bool {
        beginsWithPicture && (type.hasBytePrefix("image/") || type.isEmpty && hasLength)
    }
}
