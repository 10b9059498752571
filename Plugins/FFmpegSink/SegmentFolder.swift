import CFFmpeg
import InletCore
import InletFFmpeg
import InletOutput

// Unsafe: provides libavformat's callbacks for the files that a muxer opens itself.
/// Opens and closes the files that a muxer creates itself: the playlist and the segments of HLS.
///
/// A muxer that it serves must not outlive it. Confined to one thread.
@safe final class SegmentFolder {
    private let mode: FileMode
    // libavformat closes a file by the pointer to its view.
    private var files = unsafe [UnsafeMutablePointer<AVIOContext>: RecordingFile]()
    /// The playlists that are being written. They are completed here before they are stored.
    private var playlists = unsafe [UnsafeMutablePointer<AVIOContext>: (text: MemorySink, file: RecordingFile)]()
    private var dates = PlaylistDates()
    /// Why a file could not be opened or written. The muxer continues without a playlist and does not report it.
    private var failure: InletError?

    init(mode: FileMode) { self.mode = mode }

    /// - Throws: the error if a file could not be opened or written since the last call.
    func check() throws(InletError) {
        guard let failure else { return }
        self.failure = nil
        throw failure
    }

    /// Notes the packet that the muxer is given next.
    func begin(_ packet: EncodedPacket) { dates.begin(packet.wallClock) }

    @unsafe func serve(_ output: UnsafeMutablePointer<AVFormatContext>) {
        unsafe output.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        unsafe output.pointee.io_open = { output, io, url, flags, _ in
            guard let folder = unsafe SegmentFolder.from(output), let io = unsafe io, let url = unsafe url,
                flags & AVIO_FLAG_READ == 0
            else { return -EINVAL }
            return unsafe folder.open(String(cString: url), io)
        }
        unsafe output.pointee.io_close2 = { output, io in
            guard let folder = unsafe SegmentFolder.from(output), let io = unsafe io else { return 0 }
            return unsafe folder.close(io)
        }
    }

    @unsafe private static func from(_ output: UnsafeMutablePointer<AVFormatContext>?) -> SegmentFolder? {
        unsafe output?.pointee.opaque.map { unsafe Unmanaged<SegmentFolder>.fromOpaque($0).takeUnretainedValue() }
    }

    private func open(_ path: String, _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>) -> Int32 {
        do throws(InletError) {
            let file = try RecordingFile(NewFile(path, mode: mode, existing: .replacedUnlessPipe), path: path)
            if path.hasByteSuffix(".m3u8") || path.hasByteSuffix(".m3u8.tmp") {
                let text = try MemorySink()
                guard let view = unsafe text.io else { return -ENOMEM }
                unsafe playlists[view] = (text, file)
                unsafe io.pointee = view
                return 0
            }
            guard let view = unsafe file.io else { return -ENOMEM }
            unsafe files[view] = file
            unsafe io.pointee = view
            return 0
        } catch {
            failure = error
            return error.context.nativeCode.map { -abs($0) } ?? -EINVAL
        }
    }

    private func close(_ io: UnsafeMutablePointer<AVIOContext>) -> Int32 {
        if let (text, file) = unsafe playlists.removeValue(forKey: io) {
            unsafe avio_flush(io)
            let dated = dates.added(to: String(decoding: text.take(), as: UTF8.self))
            guard let view = unsafe file.io else { return -ENOMEM }
            for byte in dated.utf8 { unsafe avio_w8(view, Int32(byte)) }
            return unsafe close(file, view)
        }
        guard let file = unsafe files.removeValue(forKey: io) else { return 0 }
        return unsafe close(file, io)
    }

    private func close(_ file: RecordingFile, _ io: UnsafeMutablePointer<AVIOContext>) -> Int32 {
        unsafe avio_flush(io)
        let error = unsafe io.pointee.error
        let closed = file.close()
        // Nothing of it could be stored: the file is empty.
        if file.byteCount == 0 { file.remove() }
        let code = error < 0 ? error : closed
        if code < 0 { failure = InletError(errno: -code, operation: "write", path: file.path) }
        return code
    }
}
