import InletCore
import InletRTP
import InletRTSP

/// Transport streams, whose codec is known only from the stream itself.
extension RTSPClient {
    /// Returns the codec of the stream. For a transport stream, waits until its tables name one.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the stream has no supported video, and
    ///   ``InletError/Code/timedOut`` if no codec is known within ``RTSPConfiguration/firstTimeout``.
    func codec() throws(InletError) -> VideoCodec {
        guard let video = established?.video else { throw InletError(.internal, "The stream is gone.") }
        if let codec = video.codec { return codec }
        let end = now + configuration.firstTimeout
        while true {
            try checkTransportStream()
            if case .known(let codec) = stream?.transportStream { return codec }
            guard now < end, !isAtEnd else { throw missingVideo() }
            try context.checkCancellation()
            try advance(until: end)
        }
    }

    /// Checks that the video of a transport stream can still be read.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if it is scrambled; ``InletError/Code/formatChanged`` if its codec has
    ///   changed.
    func checkTransportStream() throws(InletError) {
        switch stream?.transportStream {
        case .scrambled:
            throw InletError(
                .unsupported,
                "The video of the transport stream is scrambled. Configure the server to send it unscrambled.")
        case .changed:
            throw InletError(
                .formatChanged, "The codec of the transport stream has changed. The source must be opened again.")
        case .known, .unknown, .unreadable, nil: break
        }
    }

    private func missingVideo() -> InletError {
        if case .unreadable(let types) = stream?.transportStream {
            let list = types.prefix(16).map { "0x" + String($0, radix: 16) }.joined(separator: ", ")
            return InletError(
                .unsupported,
                "The transport stream has no video in a supported codec: its stream types are \(list). "
                    + "Put ffmpeg: before the address to read it with libavformat.")
        }
        let limit = configuration.firstTimeout.optionText
        return InletError(
            .timedOut,
            stream?.lastArrival == nil
                ? "The server promised a stream, but no data arrived within \(limit). "
                    + "first-timeout sets how long to wait."
                : "Packets arrived, but no transport stream with video within \(limit). "
                    + "first-timeout sets how long to wait.")
    }
}
