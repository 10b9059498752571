/// Compresses pictures: frames in, packets out.
///
/// Every method is called on one thread at a time, so an implementation keeps plain mutable state.
public protocol VideoEncoder: AnyObject {
    /// Gets ready for pictures of a format. Called once before the first picture, and again, after ``flush()``, when
    /// the format changes.
    ///
    /// - Returns: what its packets are, before the first of them.
    /// - Throws: ``InletError/Code/unsupported`` where no encoder for the codec is there;
    ///   ``InletError/Code/invalidConfiguration`` for settings that it cannot follow.
    func open(_ format: VideoFormat, _ settings: EncoderSettings) throws -> CodecParameters

    /// Takes a picture of the format that ``open(_:_:)`` was told, later than all before it.
    ///
    /// - Parameters:
    ///   - frame: the picture.
    ///   - wantsKeyFrame: the picture shall be a key frame. An encoder that cannot makes one as soon as it does.
    /// - Returns: the packets that are ready now, in decoding order: one, or none or several where pictures are held
    ///   back.
    /// - Throws: what makes it pointless to go on.
    func encode(_ frame: VideoFrame, wantsKeyFrame: Bool) throws -> [EncodedPacket]

    /// Goes on with another bit rate or frame rate, without a key frame. Nil leaves one as it is.
    ///
    /// - Throws: ``InletError/Code/unsupported`` where the encoder must be opened anew for that: its bit rate is as
    ///   before.
    func change(bitrate: Int?, frameRate: Rational?) throws

    /// Gives out what is held back. Only ``open(_:_:)`` or the end may follow.
    func flush() throws -> [EncodedPacket]
}
