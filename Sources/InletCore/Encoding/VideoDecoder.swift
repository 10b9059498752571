/// Decompresses pictures: packets in, pictures out. The twin of ``VideoEncoder``.
///
/// Every method is called on one thread at a time, so an implementation keeps plain mutable state.
public protocol VideoDecoder: AnyObject {
    /// Gets ready for a stream. Called once, before anything else.
    ///
    /// - Throws: ``InletError/Code/unsupported`` where the decoder cannot decode such a stream on this machine; any
    ///   other error where it could not be made ready. The next decoder that is registered for the codec is tried then.
    func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws

    /// How many pictures may be decoded before one that is shown earlier, as far as the decoder knows. It may grow as
    /// packets come.
    var reorderDepth: Int { get }

    /// Whether pictures that no other picture refers to are left out, to save time. False until it is set.
    var skipsNonReferencePictures: Bool { get set }

    /// Takes a packet. ``receive()`` is called until it asks for a packet before the next one is sent.
    ///
    /// - Returns: why the packet cannot be decoded; nil where it was taken.
    /// - Throws: what makes the decoder itself unusable. The next one goes on at a key frame.
    func send(_ packet: SourcePacket) throws -> PacketFault?

    /// The next picture in the order in which pictures are shown, where there is one.
    ///
    /// A picture has the time base of its packet. Its flags are ``FrameFlags/key``, and ``FrameFlags/corrupt`` where
    /// something of it was missing or wrong. It is not numbered.
    ///
    /// - Throws: what makes the decoder itself unusable. The next one goes on at a key frame.
    func receive() throws -> DecoderOutput

    /// No packets follow: ``receive()`` gives out what is held back, and then ``DecoderOutput/ended``. Only ``reset()``
    /// may follow.
    func drain()

    /// Forgets all pictures and the end, to begin anew with a key frame.
    func reset()
}
