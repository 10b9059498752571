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

    /// Whether nothing may come in plain text.
    let isSecure: Bool
    /// What each of them is opened with: libavformat hands on neither how certificates are checked nor, of what is read from memory, who asks.
    private let settings: [(name: String, value: String)]
    /// The protocols that libavformat may use for them; nil leaves that to libavformat's own list.
    private let protocols: Set<String>?
    private let cookies = Mutex("")
    private let count = Atomic(0)
    private let ledToPlainText = Atomic(false)
    private let ledAstray = Atomic(false)
    private let hasBadPlaylist = Atomic(false)
    // Written by `watch`, before libavformat can call.
    nonisolated(unsafe) private var original: Open?

    /// More than this many before one packet has come are a playlist that leads to itself.
    private static let most = 256

    init(isSecure: Bool, protocols: Set<String>? = nil, settings: [(name: String, value: String)] = []) {
        self.isSecure = isSecure
        self.protocols = protocols
        self.settings = settings
    }

    /// Whether the stream is to end: see ``check()``.
    var mustEnd: Bool {
        ledToPlainText.load(ordering: .relaxed) || ledAstray.load(ordering: .relaxed)
            || hasBadPlaylist.load(ordering: .relaxed) || areTooMany
    }

    /// There were too many in a row.
    private var areTooMany: Bool { count.load(ordering: .relaxed) > Self.most }

    /// A packet has come.
    func notePacket() { count.store(0, ordering: .relaxed) }

    @unsafe func watch(_ input: UnsafeMutablePointer<AVFormatContext>) {
        unsafe original = input.pointee.io_open
        unsafe input.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        unsafe input.pointee.io_open = { input, io, url, flags, options in
            guard let opaque = unsafe input?.pointee.opaque else { return inlet_averror_exit }
            return unsafe Unmanaged<NestedInputs>.fromOpaque(opaque).takeUnretainedValue()
                .openNested(input, io, url, flags, options)
        }
    }

    /// - Throws: what the server did that ends the stream.
    func check() throws(InletError) {
        if ledToPlainText.load(ordering: .relaxed) {
            throw InletError(
                .tlsFailed, "The server leads from https to http, where others can read and change the stream.")
        }
        if ledAstray.load(ordering: .relaxed) {
            throw InletError(
                .malformedData,
                "The server leads to something that a network stream may not open, such as a file of this machine.")
        }
        if hasBadPlaylist.load(ordering: .relaxed) {
            throw InletError(.malformedData, "The playlist is none, is empty, or is longer than 4 MB.")
        }
        if areTooMany {
            throw InletError(
                .malformedData, "The server sends ever more, such as playlists that lead to playlists, and no video.")
        }
    }

    @unsafe private func openNested(
        _ input: UnsafeMutablePointer<AVFormatContext>?,
        _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?, _ url: UnsafePointer<CChar>?, _ flags: Int32,
        _ options: UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32 {
        count.add(1, ordering: .relaxed)
        if let url = unsafe url { note(unsafe String(cString: url)[...]) }
        guard let original = unsafe original, !mustEnd else { return inlet_averror_exit }
        if let options = unsafe options {
            for (name, value) in settings { unsafe av_dict_set(options, name, value, AV_DICT_DONT_OVERWRITE) }
            let cookies = cookies.withLock { $0 }
            if !cookies.isEmpty { unsafe av_dict_set(options, "cookies", cookies, AV_DICT_DONT_OVERWRITE) }
        }
        let code = unsafe original(input, io, url, flags, options)
        guard code >= 0, let io = unsafe io, let new = unsafe io.pointee else { return code }
        let location = unsafe Self.text("location", of: new)
        if unsafe isPlain(new) {
            ledToPlainText.store(true, ordering: .relaxed)
        } else if unsafe beginsAsPlaylist(new) {
            let asked = unsafe url.map { unsafe String(cString: $0) }
            let playlist = unsafe readPlaylist(new).flatMap {
                PlaylistCheck.accept($0, base: location == asked ? nil : location)
            }
            if let found = unsafe Self.text("cookies", of: new) { cookies.withLock { $0 = found } }
            unsafe avio_close(new)
            unsafe io.pointee = playlist.flatMap { unsafe Self.memory($0) }
            if unsafe io.pointee != nil { return code }
            hasBadPlaylist.store(true, ordering: .relaxed)
            return inlet_averror_exit
        } else {
            return code
        }
        unsafe avio_close(new)
        unsafe io.pointee = nil
        return inlet_averror_exit
    }

    /// Looks at what a playlist wants opened.
    private func note(_ url: Substring) {
        let scheme = url.prefix { $0 != ":" && $0 != "+" }.lowercased()
        guard let protocols else { return }
        // What is encrypted names the protocol that it comes by behind that: crypto+https://host/path.
        if scheme == "crypto" { note(url.dropFirst(scheme.count + 1)) }
        guard !protocols.contains(scheme) else { return }
        if isSecure && scheme == "http" {
            ledToPlainText.store(true, ordering: .relaxed)
        } else {
            ledAstray.store(true, ordering: .relaxed)
        }
    }

    /// Looks where a seek, which is a request of its own, has led.
    @unsafe func noteSeeks(of io: UnsafeMutablePointer<AVIOContext>?) {
        guard isSecure, let io = unsafe io, unsafe isPlain(io) else { return }
        ledToPlainText.store(true, ordering: .relaxed)
    }

    /// Whether redirects have led to a place that is read without TLS.
    @unsafe private func isPlain(_ io: UnsafeMutablePointer<AVIOContext>) -> Bool {
        guard isSecure, let location = unsafe Self.text("location", of: io) else { return false }
        return location.lowercased().hasPrefix("http:")
    }

    /// An option that the protocol sets, such as `location`, where redirects have led; nil for protocols without.
    @unsafe private static func text(_ name: String, of io: UnsafeMutablePointer<AVIOContext>) -> String? {
        var text: UnsafeMutablePointer<UInt8>?
        guard unsafe av_opt_get(io, name, AV_OPT_SEARCH_CHILDREN, &text) >= 0, let found = unsafe text else {
            return nil
        }
        defer { unsafe av_free(found) }
        return unsafe String(cString: found)
    }

    /// Looks at the first bytes, and goes back to them: they stay in the buffer.
    @unsafe private func beginsAsPlaylist(_ io: UnsafeMutablePointer<AVIOContext>) -> Bool {
        var bytes = [UInt8](repeating: 0, count: PlaylistCheck.mark.count)
        let count = unsafe avio_read(io, &bytes, Int32(bytes.count))
        return unsafe avio_seek(io, 0, SEEK_SET) == 0 && count == bytes.count && bytes == PlaylistCheck.mark
    }

    /// The whole playlist; nil where it is too long or breaks off.
    @unsafe private func readPlaylist(_ io: UnsafeMutablePointer<AVIOContext>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 32_768)
        while bytes.count <= PlaylistCheck.mostBytes {
            let count = unsafe avio_read(io, &piece, Int32(piece.count))
            if count == inlet_averror_eof || count == 0 { return bytes }
            guard count > 0 else { return nil }
            bytes += piece[..<Int(count)]
        }
        return nil
    }

    /// An input that has all its data in its buffer, which `avio_close` frees like any other.
    @unsafe private static func memory(_ bytes: [UInt8]) -> UnsafeMutablePointer<AVIOContext>? {
        guard let buffer = unsafe av_malloc(bytes.count)?.assumingMemoryBound(to: UInt8.self) else { return nil }
        unsafe buffer.update(from: bytes, count: bytes.count)
        guard let io = unsafe avio_alloc_context(buffer, Int32(bytes.count), 0, nil, nil, nil, nil) else {
            unsafe av_free(buffer)
            return nil
        }
        unsafe io.pointee.buf_end = io.pointee.buffer + bytes.count
        return unsafe io
    }
}
