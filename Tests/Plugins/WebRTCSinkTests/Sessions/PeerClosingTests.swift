#if GStreamer
import CGStreamer
import CGStreamerPeer
import CGStreamerPeerInternals
import Dispatch
import Foundation
import InletCore
import InletRTC
import Logging
import Synchronization
import ReferenceTools
import Testing

@testable import WebRTCEngine
@testable import WebRTCSink

/// Pipelines that are closed while a connection starts.
@Suite(.tags(.process), .timeLimit(.minutes(5))) struct PeerClosingTests {
    /// An object held by the callbacks of a pipeline.
    private final class Token: Sendable {}

    private static func peer(
        _ closing: DispatchGroup, _ told: @escaping @Sendable (GStreamerPeer.Event) -> Void
    ) throws -> GStreamerPeer {
        try GStreamerPeer.load()
        let pipeline = try #require(ViewerPipeline(.vp8))
        return try GStreamerPeer(
            pipeline.text(payload: 96, source: 1, transportWideSequence: 1).pipeline, servers: [],
            relayTLS: { _ in RelayTLS() }, isRelayOnly: false, address: "127.0.0.1", closing: closing,
            orientation: nil, channelLimits: DataChannelLimits(), logger: Logger(label: "test"), told: told)
    }

    private static func wait(for closing: DispatchGroup) async {
        await withCheckedContinuation { continuation in
            closing.notify(queue: .global()) { continuation.resume() }
        }
    }

    /// Keeps webrtcbin's thread busy until webrtcbin is closed, and queues operations meanwhile.
    private final class Occupant: Sendable {
        private let viewer = Mutex<UInt>(0)
        private let isClosed = Atomic(false)
        private let isBusy = Atomic(false)
        let begun: AsyncStream<Void>
        private let begin: AsyncStream<Void>.Continuation

        init() { (begun, begin) = AsyncStream.makeStream() }

        /// Keeps the thread busy from the first offer on.
        func occupy(_ peer: GStreamerPeer) {
            viewer.withLock { $0 = unsafe UInt(bitPattern: peer.viewer) }
            peer.makeFurtherOffer()
        }

        func hear(_ event: GStreamerPeer.Event) {
            switch event {
            // A closed webrtcbin fails each operation at once.
            case .failed: isClosed.store(true, ordering: .relaxed)
            case .offerMade where !isBusy.exchange(true, ordering: .relaxed):
                begin.finish()
                let viewer = unsafe UnsafeMutablePointer<inlet_gst_viewer>(bitPattern: viewer.withLock { $0 })
                while !isClosed.load(ordering: .relaxed) {
                    unsafe inlet_gst_viewer_offer_further(viewer)
                    usleep(1000)
                }
                // The thread is asked to end right after that.
                usleep(10_000)
            default: break
            }
        }
    }

    @Test("A pipeline closed before webrtcbin begins its queued operations is freed")
    func unanswered() async throws {
        let closing = DispatchGroup()
        weak var left: Occupant?
        do {
            let occupant = Occupant()
            left = occupant
            let peer = try Self.peer(closing) { occupant.hear($0) }
            occupant.occupy(peer)
            for await _ in occupant.begun {}
        }
        await Self.wait(for: closing)
        #expect(left == nil)
    }

    /// Returns the object that a property holds, with a reference for the caller.
    private static func object(_ name: String, of owner: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        var value = GValue()
        defer { unsafe g_value_unset(&value) }
        unsafe g_object_get_property(owner.assumingMemoryBound(to: GObject.self), name, &value)
        return unsafe g_value_dup_object(&value)
    }

    /// Attaches a token to each receiving bin of webrtcbin.
    ///
    /// - Returns: the number of bins.
    private static func tie(_ token: Token, to web: UnsafeMutableRawPointer) -> Int {
        var count = 0
        var child = unsafe web.assumingMemoryBound(to: GstBin.self).pointee.children
        while let each = unsafe child {
            let element = unsafe each.pointee.data.assumingMemoryBound(to: GObject.self)
            let name = unsafe String(cString: g_type_name_from_instance(&element.pointee.g_type_instance))
            if name == "TransportReceiveBin" {
                count += 1
                unsafe g_object_set_data_full(element, "token", Unmanaged.passRetained(token).toOpaque()) {
                    guard let token = unsafe $0 else { return }
                    unsafe Unmanaged<Token>.fromOpaque(token).release()
                }
            }
            unsafe child = each.pointee.next
        }
        return count
    }

    @Test("A pipeline is freed if an ICE state is reported while it is closed")
    func late() async throws {
        let closing = DispatchGroup()
        let (described, description) = AsyncStream.makeStream(of: Void.self)
        weak var left: Token?
        do {
            let peer = try Self.peer(closing) { if case .localSet = $0 { description.finish() } }
            // The channel's transport leads to the ICE transport.
            _ = peer.openChannel(DataChannelParameters("orders"))
            peer.makeOffer()
            for await _ in described {}
            let viewer = unsafe UnsafeMutablePointer<inlet_gst_viewer>(peer.viewer)
            unsafe gst_element_set_state(viewer.pointee.pipeline, GST_STATE_NULL)
            let web = unsafe UnsafeMutableRawPointer(viewer.pointee.web!)
            let token = Token()
            left = token
            #expect(unsafe Self.tie(token, to: web) > 0)
            var transport = unsafe try #require(Self.object("sctp-transport", of: web))
            for _ in 0..<2 {
                let next = unsafe Self.object("transport", of: transport)
                unsafe g_object_unref(transport)
                unsafe transport = try #require(next)
            }
            unsafe g_object_notify(transport.assumingMemoryBound(to: GObject.self), "state")
            unsafe g_object_unref(transport)
        }
        await Self.wait(for: closing)
        #expect(left == nil)
    }
}
#endif
