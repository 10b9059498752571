import InletCore
import InletSystem
import Synchronization

// Unsafe: copies received bytes.
/// The data from a peer for the source's thread: RTP and RTCP packets, and the state of sessions. Safe from any
/// thread.
///
/// Packets are copied once, into reused memory. If the reader is late, the newest packets are lost.
final class PacketInbox: Sendable {
    /// A session that sends a track.
    struct Session: Sendable, Hashable {
        /// The number of the session.
        var number: Int
        /// The payload type of the video.
        var payloadType: UInt8
        /// The number of the header extension for the rotation of pictures; nil if the peer does not state it.
        var orientation: Int?
    }

    /// The packets that the reader takes at once.
    struct Batch {
        fileprivate(set) var bytes: [UInt8] = []
        /// The location of each packet, and its time of arrival.
        fileprivate(set) var packets: [(place: Range<Int>, arrival: MonotonicTime)] = []
    }

    /// The known facts at the time when packets were taken.
    struct News: Sendable {
        /// The session of the packets; nil without a session.
        var session: Session?
        /// The reason for the end of the last session; nil if it did not end, or ended normally.
        var failure: InletError?
        /// The number of sessions that have ended.
        var ended: Int
    }

    private struct State {
        var batch = Batch()
        var session: Session?
        var isConnected = false
        var failure: InletError?
        var sessions = 0
        var ended = 0
        var dropped = 0

        var news: News { News(session: session, failure: failure, ended: ended) }
    }

    private let state = Mutex(State())
    /// Rung when data has arrived.
    let bell: Doorbell
    /// The maximum number of waiting bytes and packets: more than a large key frame has.
    private static let (mostBytes, mostPackets) = (8 << 20, 16_384)

    /// - Throws: ``InletError/Code/resourceExhausted`` if the process has no descriptor left.
    init() throws(InletError) { bell = try Doorbell() }

    /// Starts a session. Packets of the previous one are discarded.
    ///
    /// - Returns: the number of the session.
    @discardableResult
    func begin(payloadType: UInt8, orientation: Int?) -> Int {
        let number = state.withLock { state in
            state.sessions += 1
            state.session = Session(
                number: state.sessions, payloadType: payloadType, orientation: orientation)
            (state.failure, state.isConnected) = (nil, false)
            state.batch.clear()
            return state.sessions
        }
        bell.ring()
        return number
    }

    /// Ends a session, unless another has started since.
    ///
    /// - Parameter failure: the reason; nil if the session ended normally.
    func end(_ number: Int, _ failure: InletError?) {
        state.withLock { state in
            guard state.session?.number == number else { return }
            (state.session, state.isConnected) = (nil, false)
            state.failure = state.failure ?? failure
            state.ended += 1
        }
        bell.ring()
    }

    /// Records that no session has connected.
    func fail(_ failure: InletError?) {
        state.withLock { state in
            state.failure = failure
            state.ended += 1
        }
        bell.ring()
    }

    /// Records that media can flow in a session.
    func noteConnected(_ number: Int) {
        state.withLock { if $0.session?.number == number { $0.isConnected = true } }
        bell.ring()
    }

    /// Whether media can flow in the current session.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    /// The current facts.
    var news: News { state.withLock(\.news) }

    /// Copies a packet of a running session.
    func put(_ packet: RawSpan, of number: Int, at time: MonotonicTime) {
        let isFirst = state.withLock { state in
            guard state.session?.number == number else { return false }
            guard state.batch.bytes.count + packet.byteCount <= Self.mostBytes,
                state.batch.packets.count < Self.mostPackets
            else {
                state.dropped += 1
                return false
            }
            let start = state.batch.bytes.count
            unsafe packet.withUnsafeBytes { unsafe state.batch.bytes.append(contentsOf: $0) }
            state.batch.packets.append((start..<state.batch.bytes.count, time))
            return state.batch.packets.count == 1
        }
        if isFirst { bell.ring() }
    }

    /// Takes all packets. The memory of the last batch is reused.
    func take(_ batch: inout Batch) -> News {
        batch.clear()
        return state.withLock { state in
            swap(&batch, &state.batch)
            return state.news
        }
    }

    /// The number of packets that were dropped because the reader was late.
    var dropped: Int { state.withLock { $0.dropped } }
}

extension PacketInbox.Batch {
    fileprivate mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        packets.removeAll(keepingCapacity: true)
    }
}
