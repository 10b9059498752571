/// The reason why a packet cannot be decoded.
public enum PacketFault: Sendable, Hashable {
    case malformed
    /// Its picture was decoded, but has an unknown pixel format.
    case unknownPixelFormat
    /// Its picture is larger than ``DecoderSettings/maximumSize``.
    case tooLarge
}
