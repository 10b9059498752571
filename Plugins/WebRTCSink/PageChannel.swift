#if WebRTC
    import CGStreamer
    import InletCore
    import InletRTC
    import InletSystem

    /// What this server and its page say to each other over a data channel of the protocol `inlet-page`: what there is
    /// to see, and the time.
    ///
    /// The page asks `{"type":"ping","id":N}`; the answer has the RTP timestamp that a picture taken now would have, so
    /// that the page finds out, by the RTP timestamp of a picture that it shows and the round trip, how old that is.
    struct PageChannel: Sendable {
        /// The channel's protocol.
        static let name = "inlet-page"

        /// The RTP timestamp of the time zero.
        let firstTimestamp: UInt32
        /// What there is to see.
        let shown: @Sendable () -> VideoTrackState.Shown

        /// What is told at each change.
        var state: String { #"{"type":"state","state":"\#(shown().rawValue)"}"# }

        /// - Returns: nil for what is no question.
        func reply(to text: String) -> String? {
            // The only question: its number is all that there is to read.
            guard text.utf8.count <= 64 else { return nil }
            let digits = text.utf8.drop { !$0.isASCIIDigit }.prefix(while: \.isASCIIDigit)
            guard text.containsBytes("\"ping\""), let id = TextBytes.number(digits) else { return nil }
            let time = MonotonicTime.now
            return """
                {"type":"pong","id":\(id),"rtp":\(Self.timestamp(of: time, from: firstTimestamp)),\
                "wall":\(g_get_real_time() / 1000),"state":"\(shown().rawValue)"}
                """
        }

        /// Of video: 90000 a second (RFC 6184, 8.2.1; RFC 7741, 6.1), rounded down as GStreamer's payloaders do.
        static func timestamp(of time: MonotonicTime, from first: UInt32) -> UInt32 {
            first &+ UInt32(truncatingIfNeeded: Int128(time.nanoseconds) * 9 / 100_000)
        }
    }
#endif
