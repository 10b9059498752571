package import NIOCore

/// The parts of a picture stream as `multipart/x-mixed-replace`, which browsers, VLC and ffmpeg can show.
package struct PictureParts {
    private static let boundary = "inlet-picture"
    /// The type of the stream.
    package static let contentType = "multipart/x-mixed-replace; boundary=\(boundary)"
    /// Whether the stream's first boundary was sent.
    private var hasBegun = false

    package init() {}

    /// Returns the bytes to send for a picture. All clients share the picture's memory.
    package mutating func next(_ jpeg: ByteBuffer) -> [ByteBuffer] {
        let start = hasBegun ? "" : "--\(Self.boundary)\r\n"
        hasBegun = true
        let head = start + "content-type: image/jpeg\r\ncontent-length: \(jpeg.readableBytes)\r\n\r\n"
        // The next boundary is sent immediately, because browsers show a picture only once they find its end.
        return [ByteBuffer(string: head), jpeg, ByteBuffer(string: "\r\n--\(Self.boundary)\r\n")]
    }
}
