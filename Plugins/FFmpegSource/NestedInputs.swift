import CFFmpeg
import InletCore
import Synchronization

/// Watches what an input opens besides itself: the playlists and segments of HLS, and where redirects lead.
///
/// Safe from any thread. An input that is watched must not outlive it.
@safe final class NestedInputs: Sendable {
    private typealias Open =
        @convention(c) (
            UnsafeMutablePointer<AVFormatContext>?, UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
            UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<OpaquePointer?>?
        ) -> Int32

    private typealias Close =
        @convention(c) (UnsafeMutablePointer<AVFormatContext>?, UnsafeMutablePointer<AVIOContext>?) -> Int32

    /// Whether nothing may come in plain text.
    private let isSecure: Bool
    private let count = Atomic(0)
    /// Bytes read of what is closed by now, and of all up to the last packet.
    private let closed = Atomic(Int64(0))
    private let delivered = Atomic(Int64(0))
    private let stepped = Atomic(false)
    // Written by `watch`, before libavformat can call.
    nonisolated(unsafe) private var original: Open?
    nonisolated(unsafe) private var originalClose: Close?
    // Used by whichever thread runs libavformat, which is one at a time: the opening thread, and then the capture thread.
    nonisolated(unsafe) private var opened: [UnsafeMutablePointer<AVIOContext>] = unsafe []

    /// More than this many before one packet has come are a playlist that leads to itself.
    private static let most = 256
    /// More bytes than this before one packet has come are no header: 64 MB.
    private static let mostBytes: Int64 = 64 << 20

    init(isSecure: Bool) { self.isSecure = isSecure }

    /// A server has led from TLS to plain text.
    var ledToPlainText: Bool { stepped.load(ordering: .relaxed) }

    /// There were too many in a row, or too much was read of them.
    var areTooMany: Bool {
        count.load(ordering: .relaxed) > Self.most || total - delivered.load(ordering: .relaxed) > Self.mostBytes
    }

    /// Bytes read so far.
    private var total: Int64 {
        unsafe opened.reduce(closed.load(ordering: .relaxed)) { sum, io in unsafe sum &+ io.pointee.bytes_read }
    }

    /// A packet has come.
    func notePacket() {
        count.store(0, ordering: .relaxed)
        delivered.store(total, ordering: .relaxed)
    }

    @unsafe func watch(_ input: UnsafeMutablePointer<AVFormatContext>) {
        unsafe original = input.pointee.io_open
        unsafe originalClose = input.pointee.io_close2
        unsafe input.pointee.io_close2 = { input, io in
            guard let opaque = unsafe input?.pointee.opaque else { return inlet_averror_exit }
            return unsafe Unmanaged<NestedInputs>.fromOpaque(opaque).takeUnretainedValue().close(input, io)
        }
        unsafe input.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        unsafe input.pointee.io_open = { input, io, url, flags, options in
            guard let opaque = unsafe input?.pointee.opaque else { return inlet_averror_exit }
            return unsafe Unmanaged<NestedInputs>.fromOpaque(opaque).takeUnretainedValue()
                .open(input, io, url, flags, options)
        }
    }

    @unsafe private func open(
        _ input: UnsafeMutablePointer<AVFormatContext>?,
        _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?, _ url: UnsafePointer<CChar>?, _ flags: Int32,
        _ options: UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32 {
        count.add(1, ordering: .relaxed)
        guard let original = unsafe original, !areTooMany else { return inlet_averror_exit }
        let code = unsafe original(input, io, url, flags, options)
        if code >= 0, let new = unsafe io?.pointee { unsafe opened.append(new) }
        guard isSecure, code >= 0, unsafe Self.isPlain(io?.pointee) else { return code }
        stepped.store(true, ordering: .relaxed)
        _ = unsafe close(input, io?.pointee)
        unsafe io?.pointee = nil
        return inlet_averror_exit
    }

    @unsafe private func close(
        _ input: UnsafeMutablePointer<AVFormatContext>?, _ io: UnsafeMutablePointer<AVIOContext>?
    ) -> Int32 {
        if let io = unsafe io {
            unsafe opened.removeAll { unsafe $0 == io }
            unsafe closed.add(io.pointee.bytes_read, ordering: .relaxed)
        }
        return unsafe originalClose?(input, io) ?? 0
    }

    /// Whether the place to which redirects have led is read without TLS.
    @unsafe private static func isPlain(_ io: UnsafeMutablePointer<AVIOContext>?) -> Bool {
        var text: UnsafeMutablePointer<UInt8>?
        guard let io = unsafe io, unsafe av_opt_get(io, "location", AV_OPT_SEARCH_CHILDREN, &text) >= 0,
            let found = unsafe text
        else { return false }
        defer { unsafe av_free(found) }
        return unsafe String(cString: found).lowercased().hasPrefix("http:")
    }
}
