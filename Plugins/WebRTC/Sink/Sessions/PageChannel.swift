import InletCore
import InletRTC
import InletSystem
import WebRTCEngine

/// The messages between this server and its page over a data channel with the protocol `inlet-page`: the track's
/// state, and the time.
///
/// The page sends `{"type":"ping","id":N}`. The reply contains the RTP timestamp of a picture taken now. With the
/// RTP timestamp of the displayed picture and the round-trip time, the page computes the age of that picture.
struct PageChannel: PageMessages {
    /// The channel's protocol.
    static let name = "inlet-page"
    var subprotocol: String { Self.name }

    /// The RTP timestamp at time zero.
    let firstTimestamp: UInt32
    /// Returns the state that viewers see.
    let shown: @Sendable () -> VideoTrackState.Shown

    /// The message that is sent at each change.
    var state: String { #"{"type":"state","state":"\#(shown().rawValue)"}"# }

    /// - Returns: nil if the text is not a request.
    func reply(to text: String) -> String? {
        // There is only one kind of request, of which only the number is read.
        guard text.utf8.count <= 64 else { return nil }
        let digits = text.utf8.drop { !$0.isASCIIDigit }.prefix(while: \.isASCIIDigit)
        guard text.containsBytes("\"ping\""), let id = TextBytes.number(digits) else { return nil }
        let time = MonotonicTime.now
        return """
            {"type":"pong","id":\(id),"rtp":\(Self.timestamp(of: time, from: firstTimestamp)),\
            "wall":\(HostTime.now / 1_000_000),"state":"\(shown().rawValue)"}
            """
    }

    /// Returns a timestamp at video's 90000 Hz (RFC 6184, 8.2.1; RFC 7741, 6.1), rounded down like GStreamer's
    /// payloaders do.
    static func timestamp(of time: MonotonicTime, from first: UInt32) -> UInt32 {
        first &+ UInt32(truncatingIfNeeded: Int128(time.nanoseconds) * 9 / 100_000)
    }
}
