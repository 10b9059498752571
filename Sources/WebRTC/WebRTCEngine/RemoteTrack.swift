package import InletCore
package import InletRTC
import InletSystem
import Synchronization

/// The video that the peer of one session sends in the same media section as this side's, on its way from engines
/// to one reader. Safe from any thread.
package final class RemoteTrack: Sendable {
    /// Packets whose numbers keep their meaning.
    package struct Stream: Sendable, Hashable {
        /// The codecs by payload type.
        package var codecs: [UInt8: VideoCodec]
        /// The number of the header extension for the rotation of pictures; nil if it is not used.
        package var orientation: Int?

        package init(codecs: [UInt8: VideoCodec], orientation: Int?) {
            (self.codecs, self.orientation) = (codecs, orientation)
        }
    }

    private struct State {
        var reader: (any RemoteTrackReader)?
        var stream: Stream?
        var codec: VideoCodec?
        var hold: Duration?
        var isOver = false
        var failure: InletError?
    }
    // The reader learns of streams under the lock, in their order.
    private let state = Mutex(State())

    package init() {}

    /// The codec that the peer sends, or the agreed one before its first packet; nil before that is known.
    package var codec: VideoCodec? { state.withLock { $0.codec } }

    /// How long the reader wants later packets to wait for a missing one; nil without a reader.
    package var hold: Duration? { state.withLock { $0.hold } }

    /// Passes received packets to a reader, until ``stopReading(by:)``.
    ///
    /// - Throws: ``InletError/Code/busy`` if another reads; the session's error, or
    ///   ``InletError/Code/disconnected``, if it has ended.
    package func read(by reader: any RemoteTrackReader, hold: Duration) throws(InletError) {
        let refusal = state.withLock { state -> InletError? in
            if state.isOver { return state.failure ?? InletError(.disconnected, "The session has ended.") }
            guard state.reader == nil else {
                return InletError(
                    .busy, "The peer's track has a source already. Attach further sinks to that one's capturer.")
            }
            (state.reader, state.hold) = (reader, hold)
            if let stream = state.stream { reader.began(stream) }
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Stops passing packets to a reader.
    package func stopReading(by reader: any RemoteTrackReader) {
        state.withLock { if $0.reader === reader { ($0.reader, $0.hold) = (nil, nil) } }
    }

    // MARK: For sessions

    /// Begins a stream, unless the same one continues.
    ///
    /// - Parameter codec: the codec that was agreed on.
    package func begin(_ stream: Stream, agreed codec: VideoCodec) {
        state.withLock { state in
            guard state.stream != stream, !state.isOver else { return }
            (state.stream, state.codec) = (stream, codec)
            state.reader?.began(stream)
        }
    }

    /// Records that no packets come before the next stream begins.
    package func pause() {
        state.withLock { state in
            guard state.stream != nil else { return }
            state.stream = nil
            state.reader?.paused()
        }
    }

    /// Passes on a packet of RTP or RTCP, which is dropped without a reader, or without a stream.
    package func put(_ packet: RawSpan) {
        let payload = ReceivedTrack.payloadType(of: packet)
        let (reader, codec) = state.withLock { state -> ((any RemoteTrackReader)?, VideoCodec?) in
            guard let stream = state.stream else { return (nil, nil) }
            guard let payload else { return (state.reader, nil) }
            guard let codec = stream.codecs[payload] else { return (nil, nil) }
            state.codec = codec
            return (state.reader, codec)
        }
        guard let reader else { return }
        reader.take(packet, of: payload.flatMap { type in codec.map { (type, $0) } }, at: .now)
    }

    /// Records that the session has ended.
    package func end(_ failure: InletError?) {
        state.withLock { state in
            (state.isOver, state.failure, state.stream) = (true, failure, nil)
            state.reader?.ended(failure)
        }
    }
}

/// Reads the video that the peer of a session sends. Called on the session's queue and on GStreamer's threads,
/// which must not be blocked.
package protocol RemoteTrackReader: AnyObject, Sendable {
    /// Called when a stream begins, which replaces the previous one.
    func began(_ stream: RemoteTrack.Stream)
    /// Called when the peer stops sending, or this side does not receive.
    func paused()
    /// Called with each packet, in order.
    ///
    /// - Parameters:
    ///   - packet: the packet, whose bytes are valid during the call.
    ///   - format: the payload type and its codec; nil for RTCP.
    ///   - time: its time of arrival.
    func take(_ packet: RawSpan, of format: (payload: UInt8, codec: VideoCodec)?, at time: MonotonicTime)
    /// Called when the session has ended: no packets follow.
    func ended(_ failure: InletError?)
}

/// A session whose peer's video can be read.
package protocol RemoteTrackSession: PeerSession {
    /// The peer's track.
    var remoteTrack: RemoteTrack { get }
    /// Makes later packets wait for a missing one for as long as the reader wants. Returns at once.
    func holdRemotePackets()
    /// Requests a key frame of the peer. Returns at once.
    func requestRemoteKeyFrame()
}
