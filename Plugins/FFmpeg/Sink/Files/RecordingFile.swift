import CFFmpeg
import Glibc
import InletCore
import InletFFmpeg
import InletOutput
import InletSystem

// Unsafe: owns a descriptor and libavformat's view of it.
/// Owns a file that a muxer writes to, and libavformat's view of it.
///
/// libavformat's own `file:` follows symbolic links, leaves the mode to the umask, and waits without limit for the
/// reader of a named pipe. Confined to one thread.
@safe final class RecordingFile {
    let path: String
    /// The number of bytes from the start of the file to the furthest written one.
    private(set) var byteCount: Int64 = 0
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    /// Changes pieces of the file before they are written, without changing their length; nil if nothing is to be
    /// changed.
    var rotation: MatroskaRotation?
    /// The index of an MP4 file; nil if the file gets none.
    private var index: MovieIndex?
    private let file: NewFile
    private var position: Int64 = 0
    private var isOpen = true
    /// The number of bytes that the system was asked to write to the disk.
    private var writtenBack: Int64 = 0
    /// The first bytes of an MP4 file, until its sample entry is found.
    private var beginning: [UInt8] = []
    private var sampleEntry: (offset: Int, name: [UInt8])?
    private var hasSetsInSamples = false

    /// The number of bytes written at once: a quarter-second fragment at 8 Mbit/s.
    private static let bufferSize: Int32 = 262_144
    /// The number of bytes after which the system is asked to write them to the disk.
    private static let writeBackSize: Int64 = 1 << 20
    /// An upper limit for the number of bytes before the samples of an MP4 file.
    private static let longestBeginning = 16_384

    /// Takes over an opened file.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory. The file is then closed.
    init(_ file: NewFile, path: String) throws(InletError) {
        self.file = file
        self.path = path
        let buffer = unsafe av_malloc(Int(Self.bufferSize))
        if let buffer = unsafe buffer {
            unsafe io = inlet_avio_output(
                buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize,
                Unmanaged.passUnretained(self).toOpaque(),
                { opaque, data, count in
                    guard let file = unsafe RecordingFile.from(opaque), let data = unsafe data else { return -EINVAL }
                    let bytes = unsafe UnsafeRawBufferPointer(start: data, count: Int(count))
                    guard let rotation = file.rotation else { return unsafe file.write(bytes) }
                    return unsafe rotation.added(to: [UInt8](bytes)).withUnsafeBytes { unsafe file.write($0) }
                },
                { opaque, offset, whence in
                    unsafe RecordingFile.from(opaque)?.seek(to: offset, whence) ?? Int64(-EINVAL)
                })
        }
        guard unsafe io != nil else {
            unsafe av_free(buffer)
            _ = close()
            throw InletError(ffmpeg: -ENOMEM, operation: "avio_alloc_context")
        }
    }

    deinit { _ = close() }

    @unsafe private static func from(_ opaque: UnsafeMutableRawPointer?) -> RecordingFile? {
        unsafe opaque.map { unsafe Unmanaged<RecordingFile>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Changes the name of the sample entry in an MP4 file, because parameter sets may be in the samples from now on.
    func stateSetsInSamples() {
        hasSetsInSamples = true
        renameSampleEntry()
    }

    private func renameSampleEntry() {
        guard hasSetsInSamples, let (offset, name) = sampleEntry else { return }
        // Players read the sets in any case, even if the name cannot be changed.
        _ = unsafe pwrite(file.descriptor, name, name.count, off_t(offset))
    }

    /// Returns whether bytes at the end of the file complete the sample entry.
    private func findSampleEntry(in bytes: UnsafeRawBufferPointer) -> Bool {
        guard sampleEntry == nil, position == byteCount, byteCount < Self.longestBeginning else {
            beginning = []
            return false
        }
        unsafe beginning += bytes.prefix(Self.longestBeginning)
        sampleEntry = SampleEntry.change(in: beginning)
        return sampleEntry != nil
    }

    /// Writes all bytes. Returns their number, or an AVERROR.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        let hasSampleEntry = unsafe findSampleEntry(in: bytes)
        defer { if hasSampleEntry { renameSampleEntry() } }
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let piece = unsafe UnsafeRawBufferPointer(rebasing: rest)
            let (count, error) = SignalGuard.run {
                return unsafe Glibc.write(file.descriptor, piece.baseAddress, piece.count)
            }
            if count >= 0 {
                unsafe rest = rest.dropFirst(count)
                if position == byteCount { unsafe index?.add(UnsafeRawBufferPointer(rebasing: piece.prefix(count))) }
                position += Int64(count)
                byteCount = max(byteCount, position)
            } else if error != EINTR {
                return -error
            }
        }
        beginWriteBack()
        return Int32(clamping: bytes.count)
    }

    /// Starts collecting an index of an MP4 file's fragments. Does nothing if the file was not created here, such as a
    /// device.
    func beginIndex() {
        var facts = stat()
        guard file.isNew, unsafe fstat(file.descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return }
        index = MovieIndex()
    }

    /// An upper limit for the bytes that the index takes in the file; 0 without an index.
    var indexByteCount: Int { index?.fileByteCount ?? 0 }

    /// Ends an MP4 file with its index. If there is no room for it, the fragments remain, and the file plays without
    /// it.
    ///
    /// - Parameter date: the time when the first picture was taken, in nanoseconds since 1970; nil if unknown.
    /// - Returns: 0, or an AVERROR.
    func writeIndex(date: Int64?) -> Int32 {
        let text = date.map { CalendarTime($0, in: .utc).utcText }
        guard let change = index?.change(ofFileWith: byteCount, hasSetsInSamples: hasSetsInSamples, date: text) else {
            return 0
        }
        index = nil
        let end = off_t(byteCount)
        var error = writeAll(change.box, at: end)
        if error == 0 { error = sync() }
        // The index takes effect when the header in front of the fragments changes. After a power cut the file has
        // either the whole new header, which lies in one sector, or fragments.
        if error == 0 { error = writeAll(change.header, at: off_t(change.place)) }
        guard error == 0 else {
            _ = ftruncate(file.descriptor, end)
            return -error
        }
        byteCount += Int64(change.box.count)
        return 0
    }

    private func sync() -> Int32 {
        while fsync(file.descriptor) != 0 {
            if errno != EINTR { return errno }
        }
        return 0
    }

    /// Makes the system start writing new data of the file to the disk, so that ending an MP4 file, which waits for
    /// the disk, does not take long.
    private func beginWriteBack() {
        guard index != nil, byteCount - writtenBack >= Self.writeBackSize else { return }
        WriteBack.begin(file.descriptor, from: writtenBack, byteCount: byteCount - writtenBack)
        writtenBack = byteCount
    }

    /// Writes all bytes. Returns 0, or an `errno`.
    private func writeAll(_ bytes: [UInt8], at place: off_t) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let (count, error) = SignalGuard.run {
                unsafe rest.withUnsafeBytes { bytes in
                    unsafe pwrite(
                        file.descriptor, bytes.baseAddress, bytes.count, place + off_t(rest.startIndex))
                }
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if error != EINTR {
                return error
            }
        }
        return 0
    }

    /// Returns the new position, the size if `whence` requests it, or an AVERROR.
    private func seek(to offset: Int64, _ whence: Int32) -> Int64 {
        if whence & AVSEEK_SIZE != 0 { return byteCount }
        let result = lseek(file.descriptor, off_t(offset), whence & ~Int32(AVSEEK_FORCE))
        guard result >= 0 else { return -Int64(errno) }
        position = Int64(result)
        return position
    }

    /// The number of free bytes on the file's file system; nil if the system does not report it.
    var freeBytes: Int64? {
        var facts = statvfs()
        guard unsafe fstatvfs(file.descriptor, &facts) == 0 else { return nil }
        let (bytes, overflows) = Int64(clamping: facts.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: facts.f_frsize))
        return overflows ? .max : bytes
    }

    /// Closes the file. Data that is still buffered is lost.
    ///
    /// - Returns: 0, or an AVERROR if the system reports only now that data could not be stored.
    func close() -> Int32 {
        guard isOpen else { return 0 }
        isOpen = false
        if let io = unsafe io {
            unsafe av_free(io.pointee.buffer)
            unsafe avio_context_free(&self.io)
        }
        let status = Glibc.close(file.descriptor)
        // A close that fails has still closed the descriptor: Linux close(2), "Dealing with error returns from
        // close()".
        return status != 0 && errno != EINTR ? -errno : 0
    }

    /// Deletes the file's name if it was created here.
    func remove() {
        if file.isNew { unsafe unlink(path) }
    }

    /// Stores a note with the file that records when it began or ended.
    func note(_ mark: RecordingMark) { mark.write(to: file.descriptor) }
}
