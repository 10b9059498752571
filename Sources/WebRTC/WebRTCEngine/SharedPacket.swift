import CGStreamerPeer
package import InletCore

// Unsafe: owns a reference to a GStreamer packet.
/// A packet for GStreamer: one buffer around the encoder's bytes, shared by all viewers.
@safe package struct SharedPacket: ~Copyable {
    // Made in `init`, released in `deinit`; viewers hold their own references.
    private let buffer: OpaquePointer

    package init(_ data: PacketData, at time: MonotonicTime, isKey: Bool) {
        let (memory, _) = unsafe data.storage
        let owner = unsafe Unmanaged.passRetained(PacketOwner(data)).toOpaque()
        unsafe buffer = inlet_gst_packet_new(
            memory.baseAddress, memory.count, UInt64(clamping: time.nanoseconds), isKey ? 1 : 0, owner,
            PacketOwner.release)
    }

    deinit { unsafe inlet_gst_packet_free(buffer) }

    /// Adds the packet to an appsrc's queue. Returns at once.
    borrowing func push(to viewer: OpaquePointer) {
        _ = unsafe inlet_gst_viewer_push(viewer, buffer)
    }

    /// Keeps a packet's bytes while GStreamer uses them.
    private final class PacketOwner: Sendable {
        let data: PacketData

        init(_ data: PacketData) { self.data = data }

        static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { owner in
            guard let owner = unsafe owner else { return }
            unsafe Unmanaged<PacketOwner>.fromOpaque(owner).release()
        }
    }
}
