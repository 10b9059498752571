/// Compresses pictures: frames in, packets out.
///
/// Every method is called on one thread at a time, so an implementation keeps plain mutable state.
public protocol VideoEncoder: AnyObject {
    /// Prepares for pictures of a format. Called once before the first picture, and again, after ``flush()``, when the
    /// format changes.
    ///
    /// - Returns: the parameters of its packets, before the first of them.
    /// - Throws: ``InletError/Code/unsupported`` if no encoder for the codec is available;
    ///   ``InletError/Code/invalidConfiguration`` for settings that it does not support.
    func open(_ format: VideoFormat, _ settings: EncoderSettings) throws -> CodecParameters

    /// Encodes a picture of the format passed to ``open(_:_:)``, later than all before it.
    ///
    /// - Parameters:
    ///   - frame: the picture.
    ///   - wantsKeyFrame: whether the picture should be a key frame. An encoder that cannot do so makes the next
    ///     possible one a key frame.
    /// - Returns: the packets that are ready now, in decoding order: one, or none or several if pictures are held back.
    /// - Throws: an error if continuing is pointless.
    func encode(_ frame: VideoFrame, wantsKeyFrame: Bool) throws -> [EncodedPacket]

    /// Changes the bit rate or frame rate, without a key frame. Nil leaves a value unchanged.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the encoder must be reopened for that: its bit rate is unchanged.
    func change(bitrate: Int?, frameRate: Rational?) throws

    /// Returns the packets that are held back. Only ``open(_:_:)`` or the end may follow.
    func flush() throws -> [EncodedPacket]
}
