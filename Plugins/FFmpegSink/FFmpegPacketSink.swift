import CFFmpeg
import FoundationEssentials
public import InletCore
import InletOutput
import InletOutput
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes packets by libavformat: files, HLS, RTMP, RTSP, SRT, UDP.
///
/// A change of what packets are begins a new file, or a new connection.
public final class FFmpegPacketSink: PacketSink {
    private let output: FFmpegOutput
    private let series: FileSeries
    private let pattern: FileNamePattern?
    private let log: RepeatedLog
    private var parameters: CodecParameters?
    private var muxer: Muxer?
    private var path: String?
    /// Ticks at which the file or connection begins.
    private var origin: Int64?
    private var lastPTS: Int64?
    private var byteCount = 0
    private var isAwaitingKey = true

    /// Whether a key frame would be welcome now: the file has its length, or begins with the next key frame.
    public private(set) var wantsKeyFrame = false

    /// - Throws: ``InletError/Code/invalidConfiguration``, as ``FFmpegOutput/validate()``.
    public convenience init(_ output: FFmpegOutput) throws(InletError) {
        try output.validate()
        self.init(output, series: FileSeries())
    }

    /// - Parameter series: of the configuration that makes this sink.
    init(_ output: FFmpegOutput, series: FileSeries) {
        self.output = output
        self.series = series
        pattern = output.container.hasSegments ? try? FileNamePattern(output.destination) : nil
        log = RepeatedLog(Logger(label: "inlet.ffmpeg-sink"))
    }

    /// Opens the file or connects, or begins a new one.
    public func start(_ parameters: CodecParameters) throws {
        guard output.container.codecs.contains(parameters.codec) else {
            throw InletError(
                .unsupported,
                "\(output.container.rawValue): does not hold \(parameters.codec). It holds "
                    + "\(output.container.codecs.map(\.rawValue).joined(separator: ", ")).",
                context: .init(subject: output.redactedURI))
        }
        try closeMuxer()
        self.parameters = parameters
        do throws(InletError) {
            try openMuxer()
        } catch {
            try recover(from: error)
        }
    }

    private func openMuxer() throws(InletError) {
        guard let parameters else { return }
        var path = output.destination
        if let pattern {
            let now = Date()
            path = series.nextPath(of: pattern, time: Int64(now.timeIntervalSince1970 * 1e9))
            noteDeleted(FileSeries.retain(output, pattern, current: nil, now: now))
        } else if output.container == .hls, unsafe mkdir(path, 0o777) != 0, errno != EEXIST {
            throw InletError(errno: errno, operation: "mkdir", path: path)
        }
        self.path = path
        if !output.container.isNetwork { try Self.checkIsFile(path, output) }
        do throws(InletError) {
            muxer = try Muxer(output, url: output.url(path: path), parameters)
        } catch {
            // The name was taken, and nothing has come under it.
            var facts = stat()
            if pattern?.varies == true, unsafe stat(path, &facts) == 0, facts.st_size == 0 { unsafe unlink(path) }
            throw error
        }
        (origin, lastPTS, byteCount) = (nil, nil, 0)
        (isAwaitingKey, wantsKeyFrame) = (true, false)
    }

    /// Opening a pipe that nobody reads would not return.
    private static func checkIsFile(_ path: String, _ output: FFmpegOutput) throws(InletError) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let type = attributes?[.type] as? FileAttributeType, type == .typeUnknown || type == .typeSocket else {
            return
        }
        throw InletError(
            .invalidConfiguration,
            "That is a pipe or a socket, and the muxer needs a file. For a pipe take y4m:, or exec: with a program that reads frames.",
            context: .init(subject: output.redactedURI))
    }

    private func closeMuxer() throws(InletError) {
        defer { muxer = nil }
        try muxer?.finish(output)
    }

    /// Writes a packet; where the file has its length and the packet is a key frame, into a new file.
    ///
    /// - Throws: ``KeyFrameNeeded`` where a file was begun within a group of pictures; the errors of the muxer and its output.
    public func write(_ packet: EncodedPacket) throws {
        guard packet.isKey || !isAwaitingKey else {
            wantsKeyFrame = true
            throw KeyFrameNeeded()
        }
        do throws(InletError) {
            if packet.isKey, isFull(before: packet) {
                try closeMuxer()
                try openMuxer()
            }
            try add(packet)
        } catch {
            try recover(from: error)
            // What it needs is there: a new file.
            guard packet.isKey else { throw KeyFrameNeeded() }
            try add(packet)
        }
    }

    private func add(_ packet: EncodedPacket) throws(InletError) {
        isAwaitingKey = false
        let start = origin ?? packet.pts.ticks
        origin = start
        let spacing = lastPTS.map { max(0, packet.pts.ticks.subtracting(saturating: $0)) } ?? 0
        let stated = packet.duration?.rescaled(to: packet.pts.timeBase)
        // A length that no picture has is none: a file may say anything.
        let duration = stated.flatMap { (0...3_600_000_000_000).contains($0.nanoseconds) ? $0.ticks : nil } ?? spacing
        try muxer?.write(packet, origin: start, duration: duration, output)
        // Not the position in the file: part of it still waits for its fragment or cluster to be whole.
        byteCount += packet.data.count
        lastPTS = packet.pts.ticks
        // Asked for one picture ahead, so that the file has its length to the picture.
        let length = packet.pts.ticks.subtracting(saturating: start).adding(saturating: duration)
        wantsKeyFrame = isFull(at: length, packet.pts.timeBase)
    }

    private func isFull(before packet: EncodedPacket) -> Bool {
        guard let origin else { return false }
        return isFull(at: packet.pts.ticks.subtracting(saturating: origin), packet.pts.timeBase)
    }

    private func isFull(at ticks: Int64, _ timeBase: Rational) -> Bool {
        guard output.container.hasSegments else { return false }
        if let most = output.segmentSize, byteCount >= most { return true }
        guard let length = output.segment else { return false }
        return MediaTime(ticks: ticks, timeBase: timeBase).nanoseconds >= length.wholeNanoseconds
    }

    /// Goes on with a new file: where one has reached the size that the file system allows, and on a full disk where older files may go.
    private func recover(from error: InletError) throws(InletError) {
        guard let pattern, let path else { throw error }
        switch error.context.nativeCode {
        case -EFBIG where byteCount > 0 && pattern.tellsFilesApart:
            try? closeMuxer()
            return try openMuxer()
        case -ENOSPC, -EDQUOT: break
        default: throw error
        }
        try? closeMuxer()
        // Room for another file of the same size.
        let space = max(byteCount, output.segmentSize ?? 0, 65_536)
        let deleted = FileSeries.retain(output, pattern, current: path, now: Date(), freeing: space)
        guard !deleted.isEmpty else { throw error }
        log.log(
            .warning, "\(output.redactedURI): \(error.message) Went on after older files were deleted.", key: "full")
        noteDeleted(deleted)
        try openMuxer()
        wantsKeyFrame = true
    }

    private func noteDeleted(_ paths: [String]) {
        for path in paths { log.log(.info, "Deleted \(path).", key: "deleted") }
    }

    /// Ends the file or the connection.
    public func finish() throws { try closeMuxer() }
}
