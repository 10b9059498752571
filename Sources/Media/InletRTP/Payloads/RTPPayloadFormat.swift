/// The layout of the payloads of an RTP stream of video.
package enum RTPPayloadFormat: Sendable, Hashable {
    /// H.264 by RFC 6184, in the modes 0 and 1, which are read alike.
    case h264
    /// H.265 by RFC 7798. Payloads have a decoding order number only if `sprop-max-don-diff` is greater than zero.
    case h265(usesDONL: Bool)
    /// Motion JPEG by RFC 2435, also with the header extension that ONVIF defines for large pictures.
    case jpeg
    /// AV1 by AOMedia's RTP payload format 1.0.
    case av1
    /// VP8 by RFC 7741.
    case vp8
    /// VP9 by RFC 9628.
    case vp9
    /// MPEG-4 Visual by RFC 6416.
    case mpeg4Visual
    /// An MPEG transport stream (RFC 2250), whose tables name its video.
    case transportStream
}
