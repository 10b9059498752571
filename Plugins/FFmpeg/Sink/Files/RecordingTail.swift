import InletCore

/// The end of a file whose successor began with an open group of pictures: pictures that are decoded after the key
/// frame, are shown before it, and also refer to pictures of this file.
///
/// They could not be decoded in the next file. They are written here, after a copy of the key frame.
final class RecordingTail {
    let muxer: Muxer
    let file: RecordingFile
    /// The number of bytes of the packets in the file, in memory or stored.
    let byteCount: Int
    private let origin: Int64
    private let duration: Int64
    private let key: EncodedPacket
    private var hasKey = false

    /// - Parameters:
    ///   - byteCount: the number of bytes of the packets in the file.
    ///   - origin: the time at which the file begins, in ticks.
    ///   - duration: the duration of a picture, in ticks.
    ///   - key: the key frame with which the next file begins.
    init(
        _ muxer: Muxer, _ file: RecordingFile, byteCount: Int, origin: Int64, duration: Int64, next key: EncodedPacket
    ) {
        (self.muxer, self.file, self.byteCount) = (muxer, file, byteCount)
        (self.origin, self.duration, self.key) = (origin, duration, key)
    }

    /// Returns whether pictures that are shown before a key frame may follow it.
    static func isPossible(before key: EncodedPacket) -> Bool { key.pts.ticks > key.dts.ticks }

    /// Writes a packet if it belongs to the file.
    ///
    /// - Returns: false if the packet belongs to the next file, as all later ones do.
    func take(_ packet: EncodedPacket, _ output: FFmpegOutput) throws(InletError) -> Bool {
        guard !packet.isKey, packet.pts.ticks < key.pts.ticks else { return false }
        if !hasKey { try muxer.write(key, origin: origin, duration: duration, output) }
        hasKey = true
        try muxer.write(packet, origin: origin, duration: duration, output)
        return true
    }
}
