/// Decompresses pictures: packets in, pictures out. The counterpart of ``VideoEncoder``.
///
/// Every method is called on one thread at a time, so an implementation keeps plain mutable state.
public protocol VideoDecoder: AnyObject {
    /// Prepares for a stream. Called once, before anything else.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the decoder cannot decode such a stream on this machine; any other
    ///   error if it could not be prepared. The next decoder that is registered for the codec is then tried.
    func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws

    /// The number of pictures that may be decoded before one that is shown earlier, as far as the decoder knows. It may
    /// grow as packets arrive.
    var reorderDepth: Int { get }

    /// Whether pictures that no other picture refers to are skipped, to save time. False until it is set.
    var skipsNonReferencePictures: Bool { get set }

    /// Takes a packet. ``receive()`` is called until it asks for a packet before the next one is sent.
    ///
    /// - Returns: why the packet cannot be decoded; nil if it was accepted.
    /// - Throws: an error if the decoder itself is unusable. The next one continues at a key frame.
    func send(_ packet: SourcePacket) throws -> PacketFault?

    /// Returns the next picture in display order, if one is ready.
    ///
    /// A picture has the time base of its packet. Its flags are ``FrameFlags/key``, and ``FrameFlags/corrupt`` if part
    /// of it was missing or wrong. It is not numbered.
    ///
    /// - Throws: an error if the decoder itself is unusable. The next one continues at a key frame.
    func receive() throws -> DecoderOutput

    /// Records that no packets follow: ``receive()`` returns the pictures held back, and then ``DecoderOutput/ended``.
    /// Only ``reset()`` may follow.
    func drain()

    /// Forgets all pictures and the end of the stream, to restart with a key frame.
    func reset()
}
