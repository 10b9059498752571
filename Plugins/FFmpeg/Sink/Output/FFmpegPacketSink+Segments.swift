import InletCore
import InletFFmpeg
import InletOutput

/// An HLS segment that is being written.
struct OpenSegment {
    var name: String
    var file: RecordingFile
    /// The initialization section that precedes the segment's bytes; nil for MPEG-TS.
    var map: String?
    var isIndependent: Bool
    var isDiscontinuity: Bool
    /// The time when the first picture is shown, in ticks, and the time when the last one ends.
    var start: Int64
    var end: Int64
    /// The time when the first picture was taken, as text.
    var date: String?
}

/// HLS segments, which the playlist lists as they are completed.
extension FFmpegPacketSink {
    /// Whether segments are fragmented MP4, which Apple's players require for HEVC.
    var isFragmented: Bool { parameters?.codec == .hevc }

    /// The longest first segment if key frames are far apart; its length determines the target duration.
    private static let longestFirst = Duration.seconds(30)

    /// Locks the folder when first called, and reads the files that an earlier run left there.
    ///
    /// - Returns: as ``SegmentSeries/begin(_:)``.
    @discardableResult func beginSegments() throws(InletError) -> (isContinued: Bool, elapsed: Duration) {
        if !holdsFolder {
            try series.segments.lock(output)
            holdsFolder = true
        }
        return try series.segments.begin(output)
    }

    /// Opens a muxer and its first segment, which does not continue the segments in the playlist.
    func openSegments(at packet: EncodedPacket, _ parameters: CodecParameters) throws(InletError) -> Muxer {
        let (isContinued, elapsed) = try beginSegments()
        guard isFragmented else {
            let (name, file) = try series.segments.openFile(.transport, output)
            segment = open(name, file, map: nil, at: packet, isDiscontinuity: isContinued)
            return try Muxer(output, to: .file(file), parameters)
        }
        let offset = MediaTime(ticks: elapsed.wholeNanoseconds, timeBase: Rational(1, 1_000_000_000))
        segmentOffset = offset.rescaled(to: packet.dts.timeBase).ticks
        var parameters = parameters
        if parameters.extraData.isEmpty {
            // The map, which is written first, contains the parameter sets.
            let first = try FFmpegPacket()
            try first.fill(sharing: packet.data)
            parameters.extraData = PacketInspection.parameterSets(in: first, parameters.codec) ?? []
        }
        let (map, mapFile) = try series.segments.openFile(.map, output)
        do throws(InletError) {
            let muxer = try Muxer(output, to: .file(mapFile), parameters)
            let (name, file) = try series.segments.openFile(.fragment, output)
            segment = open(name, file, map: map, at: packet, isDiscontinuity: isContinued)
            try muxer.go(on: file, output, flushes: false)
            return muxer
        } catch {
            mapFile.remove()
            throw error
        }
    }

    private func open(
        _ name: String, _ file: RecordingFile, map: String?, at packet: EncodedPacket, isDiscontinuity: Bool
    ) -> OpenSegment {
        OpenSegment(
            name: name, file: file, map: map, isIndependent: packet.isKey, isDiscontinuity: isDiscontinuity,
            start: packet.pts.ticks, end: packet.pts.ticks,
            date: times.stated(packet).map { CalendarTime($0, in: .utc).utcText })
    }

    /// Returns whether the gap before a packet makes the segment longer than the playlist permits.
    func breaksSegment(_ packet: EncodedPacket) -> Bool {
        let isGap = gaps.add(MonotonicTime(nanoseconds: packet.dts.nanoseconds)) != nil
        guard let segment, isGap else { return false }
        let most = series.segments.longest ?? output.segmentLength + .milliseconds(490)
        return length(from: segment.start, to: packet.pts.ticks, packet) > most
    }

    /// Returns whether a packet begins another segment: a key frame after the segment's length, or any packet if the
    /// segment would become longer than the playlist permits.
    func endsSegment(_ packet: EncodedPacket, duration: Int64) -> Bool {
        guard let segment else { return false }
        let ticks = packet.pts.ticks.subtracting(saturating: segment.start)
        if packet.isKey, isFull(at: ticks, packet.pts.timeBase) { return true }
        let end = packet.pts.ticks.adding(saturating: duration)
        return length(from: segment.start, to: end, packet) > series.segments.longest ?? Self.longestFirst
    }

    private func length(from start: Int64, to end: Int64, _ packet: EncodedPacket) -> Duration {
        .nanoseconds(
            MediaTime(ticks: max(0, end.subtracting(saturating: start)), timeBase: packet.pts.timeBase).nanoseconds)
    }

    /// Begins a segment that continues the current one, which is complete.
    ///
    /// - Parameter flushes: whether packets that the muxer holds back go into the current segment.
    func beginSegment(at packet: EncodedPacket, flushes: Bool) throws(InletError) {
        guard let current = segment, let muxer else { return }
        let (name, file) = try series.segments.openFile(isFragmented ? .fragment : .transport, output)
        do throws(InletError) {
            try muxer.go(on: file, output, flushes: flushes)
        } catch {
            file.remove()
            throw error
        }
        segment = open(name, file, map: current.map, at: packet, isDiscontinuity: false)
        try list(current, until: packet.pts.ticks, packet.pts.timeBase)
    }

    /// Ends the current segment. Its muxer is already closed.
    ///
    /// - Parameter isWhole: whether all of the segment was written.
    func endSegment(isWhole: Bool) throws(InletError) {
        guard let segment, let timeBase = parameters?.timeBase else { return }
        self.segment = nil
        gaps = GapDetector()
        // The written part of an MPEG-TS segment plays up to the fault. Players would fail on half a fragment, so it
        // is not listed.
        guard isWhole || segment.map == nil && segment.file.byteCount > 0 else {
            if segment.file.byteCount == 0 { segment.file.remove() }
            return
        }
        try list(segment, until: segment.end, timeBase)
    }

    private func list(_ segment: OpenSegment, until end: Int64, _ timeBase: Rational) throws(InletError) {
        let ticks = max(1, end.subtracting(saturating: segment.start))
        try series.segments.add(
            MediaPlaylist.Segment(
                name: segment.name, length: .nanoseconds(MediaTime(ticks: ticks, timeBase: timeBase).nanoseconds),
                isIndependent: segment.isIndependent, isDiscontinuity: segment.isDiscontinuity, map: segment.map,
                start: segment.date), map: self.segment?.map, output)
    }
}
