import CGStreamerPeer
package import InletRTC

// Unsafe: owns a data channel and the context of GStreamer's callbacks.
/// Owns one data channel of a pipeline. Safe from any thread; its events are called on GStreamer's threads.
@safe package final class DataChannel: Sendable {
    /// An event of a channel.
    package enum Event: Sendable {
        case opened
        case closed
        case failed(String)
        case received(PeerMessage.Body)
        /// A message of this many bytes, which is longer than accepted.
        case tooLong(Int)
        /// No more bytes wait than the threshold, after there were more.
        case drained
    }

    /// The channel's number among those of its session.
    package let id: UInt
    package let label: String
    package let subprotocol: String
    package let delivery: DataDelivery

    // Holds a reference from `init` to `deinit`. GStreamer's locks guard the object.
    nonisolated(unsafe) private let channel: OpaquePointer

    /// - Parameters:
    ///   - channel: its reference is taken over.
    ///   - limits: the longest message that is accepted, and when the channel counts as drained.
    ///   - told: called with the channel's number. Holds neither the channel nor its session.
    init(
        _ channel: OpaquePointer, limits: DataChannelLimits,
        told: @escaping @Sendable (UInt, Event) -> Void
    ) {
        unsafe self.channel = channel
        id = UInt(bitPattern: channel)
        let facts = unsafe inlet_gst_channel_look(channel)
        label = unsafe Self.taken(facts.label)
        subprotocol = unsafe Self.taken(facts.protocol)
        delivery = unsafe DataDelivery(
            isOrdered: facts.is_ordered != 0, retransmits: Int(facts.retransmits),
            milliseconds: Int(facts.lifetime))
        let listener = Listener(longest: limits.receivedBytes) { [id] in told(id, $0) }
        unsafe inlet_gst_channel_listen(
            channel, UInt64(clamping: limits.drainedBytes), Unmanaged.passRetained(listener).toOpaque(),
            Listener.told, Listener.release)
    }

    deinit { unsafe inlet_gst_channel_free(channel) }

    private static func taken(_ text: UnsafeMutablePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        defer { unsafe inlet_gst_free(text) }
        return unsafe String(cString: text)
    }

    /// The parameters by which an application identifies it.
    package var parameters: DataChannelParameters { DataChannelParameters(label, delivery) }

    /// Whether the channel can send.
    package var isOpen: Bool { unsafe inlet_gst_channel_state(channel) == inlet_gst_channel_open }

    /// The number of bytes that were queued and not yet sent.
    package var queued: Int { Int(clamping: unsafe inlet_gst_channel_queued(channel)) }

    /// Queues a message. Returns at once.
    ///
    /// - Returns: false if the channel is not open.
    package func send(_ body: PeerMessage.Body) -> Bool {
        switch body {
        case .text(var text):
            text.withUTF8 { bytes in
                unsafe inlet_gst_channel_send(channel, 1, bytes.baseAddress, bytes.count) != 0
            }
        case .binary(let bytes):
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe inlet_gst_channel_send(channel, 0, bytes.baseAddress, bytes.count) != 0
            }
        }
    }

    package func close() { unsafe inlet_gst_channel_close(channel) }

    /// The object that GStreamer's callbacks hold.
    private final class Listener: Sendable {
        let longest: Int
        let tell: @Sendable (Event) -> Void

        init(longest: Int, _ tell: @escaping @Sendable (Event) -> Void) {
            self.longest = longest
            self.tell = tell
        }

        static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { owner in
            guard let owner = unsafe owner else { return }
            unsafe Unmanaged<Listener>.fromOpaque(owner).release()
        }

        static let told: @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int) -> Void = {
            owner, what, bytes, count in
            guard let owner = unsafe owner else { return }
            let listener = unsafe Unmanaged<Listener>.fromOpaque(owner).takeUnretainedValue()
            guard count <= listener.longest else { return listener.tell(.tooLong(count)) }
            let bytes = unsafe UnsafeRawBufferPointer(start: bytes, count: unsafe bytes == nil ? 0 : count)
            switch what {
            case inlet_gst_channel_opened: listener.tell(.opened)
            case inlet_gst_channel_closed: listener.tell(.closed)
            case inlet_gst_channel_drained: listener.tell(.drained)
            case inlet_gst_channel_text:
                unsafe listener.tell(.received(.text(String(decoding: bytes, as: UTF8.self))))
            case inlet_gst_channel_binary: unsafe listener.tell(.received(.binary(Array(bytes))))
            default: unsafe listener.tell(.failed(String(decoding: bytes, as: UTF8.self)))
            }
        }
    }
}
