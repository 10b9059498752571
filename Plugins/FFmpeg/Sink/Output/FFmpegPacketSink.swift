import Glibc
public import InletCore
import InletFFmpeg
import InletOutput
import Logging

/// Writes packets with libavformat: files, HLS, RTMP, RTSP, SRT, UDP.
///
/// If the packets' parameters change, a new file or connection begins, unless only parameter sets change. Key frames
/// are examined as well, because a container may state only its initial parameters.
public final class FFmpegPacketSink: PacketSink {
    let output: FFmpegOutput
    let series: FileSeries
    private let pattern: FileNamePattern?
    private let log: RepeatedLog
    private(set) var parameters: CodecParameters?
    private var follower: ParameterFollower?
    private(set) var muxer: Muxer?
    /// The HLS segment being written, and the detection of gaps before packets.
    var segment: OpenSegment?
    /// Whether this sink has locked the folder of its segments.
    var holdsFolder = false
    var gaps = GapDetector()
    /// The time at which the muxer begins within fragments, in ticks.
    var segmentOffset: Int64 = 0
    private var hasFailed = false
    private var file: RecordingFile?
    /// The previous file, until it has all its pictures.
    private var tail: RecordingTail?
    /// The time at which the file or connection begins, in ticks.
    private var origin: Int64?
    private var lastPTS: Int64?
    /// The duration of the latest picture, in ticks; 0 if unknown.
    private var lastDuration: Int64 = 0
    private var byteCount = 0
    private(set) var times = PictureTimes()
    private var isAwaitingKey = true

    /// Whether a key frame is needed now, because the file has reached its length or begins with the next key frame.
    public private(set) var wantsKeyFrame = false

    /// A quarter of a second for files, as long as their fragments or clusters; zero for servers.
    public var batchInterval: Duration { output.container.isNetwork ? .zero : .milliseconds(250) }

    /// Creates a sink.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``, as ``FFmpegOutput/validate()``.
    public convenience init(_ output: FFmpegOutput) throws(InletError) {
        try output.validate()
        self.init(output, series: FileSeries())
    }

    /// - Parameter series: the file series of the configuration that makes this sink.
    init(_ output: FFmpegOutput, series: FileSeries) {
        self.output = output
        self.series = series
        pattern = output.container.hasSegments ? try? FileNamePattern(output.destination) : nil
        log = RepeatedLog(Logger(label: "inlet.ffmpeg-sink"))
    }

    /// Opens a file or connection, replacing the current one.
    public func start(_ parameters: CodecParameters) throws {
        guard output.container.codecs.contains(parameters.codec) else {
            throw InletError(
                .unsupported,
                "\(output.container.rawValue): does not support \(parameters.codec). It supports "
                    + "\(output.container.codecs.map(\.rawValue).joined(separator: ", ")).",
                context: .init(subject: output.redactedURI))
        }
        follower = ParameterFollower(parameters)
        try go(on: parameters)
    }

    /// Continues with other parameters: in the same file or connection if it supports them, otherwise in a new one.
    private func go(on parameters: CodecParameters) throws(InletError) {
        endTail()
        // A file without pictures starts again, with the parameter sets where all players find them.
        if let muxer, origin != nil || output.container.isNetwork, muxer.follow(parameters, output) {
            self.parameters = parameters
            isAwaitingKey = true
            return
        }
        try closeMuxer()
        self.parameters = parameters
        // The name of such a file contains the time of its first picture, which is not known yet.
        guard pattern?.hasTime != true else { return awaitKey() }
        if output.container == .hls {
            try beginSegments()
            return awaitKey()
        }
        do throws(InletError) {
            try openMuxer()
        } catch {
            try recover(from: error)
        }
    }

    /// - Parameter packet: the first packet; nil if it is not known yet.
    private func openMuxer(at packet: EncodedPacket? = nil) throws(InletError) {
        guard let parameters else { return }
        do throws(InletError) {
            if output.container == .hls, let packet {
                muxer = try openSegments(at: packet, parameters)
            } else {
                muxer = try Muxer(output, to: target(at: packet), parameters)
            }
        } catch {
            discardFile()
            segment?.file.remove()
            segment = nil
            throw error.about(output.redactedURI)
        }
        awaitKey()
    }

    private func awaitKey() {
        (origin, lastPTS, lastDuration, byteCount) = (nil, nil, 0, 0)
        (isAwaitingKey, wantsKeyFrame) = (true, false)
    }

    private func target(at packet: EncodedPacket?) throws(InletError) -> Muxer.Target {
        if let pattern {
            let file = try series.begin(output, pattern, at: packet.flatMap { times.time(of: $0) })
            self.file = file
            noteDeleted(series.retain(output, pattern, current: file.path))
            return .file(file)
        }
        return .address(output.destination)
    }

    /// Deletes a file that contains no pictures.
    private func discardFile() {
        if let file { series.discard(file) }
        file = nil
    }

    private func closeMuxer() throws(InletError) {
        guard let muxer else { return }
        defer {
            self.muxer = nil
            if let file, muxer.holdsPictures {
                series.end(file, output)
                self.file = nil
            } else {
                discardFile()
            }
        }
        let isWhole = muxer.isWhole
        if isWhole, let file { makeRoomForEnd(of: file, byteCount: byteCount) }
        do throws(InletError) {
            try muxer.finish(output)
        } catch {
            try? endSegment(isWhole: false)
            throw error
        }
        try endSegment(isWhole: isWhole)
        if let loss = muxer.loss { log.log(.warning, "\(output.redactedURI): \(loss)") }
    }

    /// Finishes the previous file. If that fails, the end of the file is lost, but the current file is not affected.
    private func endTail() {
        guard let tail else { return }
        self.tail = nil
        makeRoomForEnd(of: tail.file, byteCount: tail.byteCount)
        do throws(InletError) {
            try tail.muxer.finish(output)
        } catch {
            noteLostTail(of: tail, error)
        }
        series.end(tail.file, output)
    }

    private func noteLostTail(of tail: RecordingTail, _ error: InletError) {
        log.log(.warning, "\(tail.file.path): cannot write the last pictures: \(error.message)", key: "tail")
    }

    /// If allowed, deletes older files when the disk has no room for a file's buffered data. Finishing the file writes
    /// that data, and a write could not be repeated.
    private func makeRoomForEnd(of file: RecordingFile, byteCount: Int) {
        guard output.deletesFiles, let pattern, let free = file.freeBytes else { return }
        let needed = Int64(byteCount).subtracting(saturating: file.byteCount)
            .adding(saturating: Self.indexSize + Int64(file.indexByteCount))
        guard free < needed else { return }
        _ = makeRoom(Int(clamping: needed), beside: file.path, pattern, because: "The disk is full.")
    }

    /// Deletes older files, if allowed, to free a number of bytes.
    ///
    /// - Returns: whether any was deleted.
    private func makeRoom(
        _ byteCount: Int, beside current: String?, _ pattern: FileNamePattern, because message: String
    ) -> Bool {
        let deleted = series.retain(output, pattern, current: current, freeing: byteCount)
        guard !deleted.isEmpty else { return false }
        log.log(.warning, "\(output.redactedURI): \(message) Older files were deleted to continue.", key: "full")
        noteDeleted(deleted)
        return true
    }

    /// An upper limit for what containers add to the packets of a fragment, and to a file at its end, without the MP4
    /// index.
    private static let indexSize: Int64 = 65_536

    /// Writes a packet. A key frame goes into a new file if the current one has reached its length.
    ///
    /// - Throws: ``KeyFrameNeeded`` if a file was begun within a group of pictures; the errors of the muxer and its
    ///   output.
    public func write(_ packet: EncodedPacket) throws {
        do {
            try writeNext(packet)
        } catch let error as KeyFrameNeeded {
            throw error
        } catch {
            hasFailed = true
            throw error
        }
    }

    private func writeNext(_ packet: EncodedPacket) throws {
        guard packet.isKey || !isAwaitingKey else {
            wantsKeyFrame = true
            throw KeyFrameNeeded()
        }
        if output.container == .hls, breaksSegment(packet) {
            try closeMuxer()
            awaitKey()
            return try writeNext(packet)
        }
        times.note(packet)
        if let tail {
            do throws(InletError) {
                if try tail.take(packet, output) { return }
            } catch {
                return noteLostTail(of: tail, error)
            }
            endTail()
        }
        if !packet.isKey {
            follower?.note(packet.data)
        } else if let changed = follower?.follow(packet.data) {
            try go(on: changed)
        }
        do throws(InletError) {
            if packet.isKey, output.container.hasSegments, isFull(before: packet) {
                if let muxer, let file, let origin, RecordingTail.isPossible(before: packet) {
                    tail = RecordingTail(
                        muxer, file, byteCount: byteCount, origin: origin, duration: lastDuration, next: packet)
                    (self.muxer, self.file) = (nil, nil)
                } else {
                    try closeMuxer()
                }
            }
            if muxer == nil { try openMuxer(at: packet) }
            try add(packet)
        } catch {
            try recover(from: error, at: packet)
            // A new file can begin with this packet.
            guard packet.isKey else { throw KeyFrameNeeded() }
            try add(packet)
        }
    }

    private func add(_ packet: EncodedPacket) throws(InletError) {
        isAwaitingKey = false
        // The times in fragments of MP4 must not be negative.
        let begins =
            output.container == .hls && isFragmented
            ? packet.dts.ticks.subtracting(saturating: segmentOffset) : packet.pts.ticks
        let start = origin ?? begins
        origin = start
        let spacing = lastPTS.map {
            MediaTime(ticks: packet.pts.ticks.subtracting(saturating: $0), timeBase: packet.pts.timeBase)
        }
        // Impossible lengths are ignored: a file may state anything, and a source may have been away.
        let lengths = [packet.duration?.rescaled(to: packet.pts.timeBase), spacing].compactMap(\.self)
        let duration = lengths.first { (0...3_600_000_000_000).contains($0.nanoseconds) }?.ticks ?? 0
        let ends = endsSegment(packet, duration: duration)
        // libavformat writes a fragment when it gets the next key frame, and only then knows the length of its last
        // picture.
        let isFirst = !isFragmented || !packet.isKey
        if ends, isFirst { try beginSegment(at: packet, flushes: true) }
        try muxer?.write(packet, origin: start, duration: duration, output)
        if ends, !isFirst { try beginSegment(at: packet, flushes: false) }
        let end = max(segment?.end ?? 0, packet.pts.ticks.adding(saturating: duration))
        segment?.end = end
        // Counted here, because the position in the file excludes data that is buffered until its fragment or cluster
        // is complete.
        byteCount += packet.data.count
        (lastPTS, lastDuration) = (packet.pts.ticks, duration)
        // Requested one picture ahead, so that the length of a file whose packets are not buffered is exact to the
        // picture.
        let length = packet.pts.ticks.subtracting(saturating: start).adding(saturating: duration)
        wantsKeyFrame = output.container.hasSegments && isFull(at: length, packet.pts.timeBase)
    }

    private func isFull(before packet: EncodedPacket) -> Bool {
        guard let origin else { return false }
        return isFull(at: packet.pts.ticks.subtracting(saturating: origin), packet.pts.timeBase)
    }

    /// Returns whether the file ends before a picture at this time.
    ///
    /// It may end early by half the duration of the previous picture, but by a tenth of its length at most. The times
    /// of live sources vary, so a key frame each second could otherwise miss a length of 1 s by microseconds, and the
    /// file would last 2 s.
    func isFull(at ticks: Int64, _ timeBase: Rational) -> Bool {
        guard output.container.hasSegments || output.container == .hls else { return false }
        if let most = output.segmentSize, byteCount >= most { return true }
        let segment = output.container == .hls ? output.segmentLength : output.segment
        guard let length = segment?.wholeNanoseconds else { return false }
        let half = MediaTime(ticks: lastDuration / 2, timeBase: timeBase).nanoseconds
        let time = MediaTime(ticks: ticks, timeBase: timeBase).nanoseconds
        return time.adding(saturating: min(half, length / 10)) >= length
    }

    /// Continues with a new file if the current one has reached the file system's maximum size, or if the disk is full
    /// and older files may be deleted.
    ///
    /// - Parameter packet: the packet that could not be written; nil before the first packet.
    private func recover(from error: InletError, at packet: EncodedPacket? = nil) throws(InletError) {
        guard let pattern else { throw error }
        // The code is an errno, or an AVERROR derived from one.
        switch abs(error.context.nativeCode ?? 0) {
        case EFBIG where byteCount > 0 && pattern.tellsFilesApart:
            try? closeMuxer()
            return try openMuxer(at: packet)
        case ENOSPC, EDQUOT: break
        default: throw error
        }
        let path = file?.path
        try? closeMuxer()
        // Room for another file of the same size.
        let space = max(byteCount, output.segmentSize ?? 0, 65_536)
        guard makeRoom(space, beside: path, pattern, because: error.message) else { throw error }
        try openMuxer(at: packet)
        wantsKeyFrame = true
    }

    private func noteDeleted(_ paths: [String]) {
        for path in paths { log.log(.info, "Deleted \(path).", key: "deleted") }
    }

    /// Ends the file or the connection, and also the playlist unless the sink has failed.
    public func finish() throws {
        defer { if holdsFolder { series.segments.release() } }
        endTail()
        try closeMuxer()
        if output.container == .hls, !hasFailed { try series.segments.end(output) }
    }
}
