/// Why a packet cannot be decoded.
public enum PacketFault: Sendable, Hashable {
    case malformed
    /// Its picture was decoded, and has a pixel format that nobody knows here.
    case unknownPixelFormat
    /// Its picture is larger than ``DecoderSettings/maximumSize``.
    case tooLarge
}
