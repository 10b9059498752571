import InletCore

/// Reads the video of an MPEG transport stream (ISO/IEC 13818-1) from the payloads of RFC 2250.
///
/// It reads the first video stream of the first program whose map contains video. Continuity counters show losses. They
/// have only four bits, so RTP's sequence numbers show the losses that they miss. RTP's timestamps are those of the
/// transmission, and its marker states a break of these (section 2.1), so neither is used.
final class TransportStreamDepacketizer {
    private let settings: DepacketizerSettings
    private var framer = TransportFramer()
    private var tables: ProgramTables
    private var video: ProgramTables.Video?
    /// Reads H.264 and H.265.
    private(set) var nal: NALDepacketizer?
    /// Reads MPEG-1, MPEG-2 and MPEG-4 part 2.
    private var pictures: StartCodeDepacketizer?
    private(set) var isChanged = false
    private var hasContent = false

    /// The continuity counter of the last packet of the video, and its last bytes; nil before the first.
    private var last: (counter: Int, end: (UInt64, UInt64))?
    /// The most packets of the video that the RTP packets lost since the last one may have held.
    private var possibleLoss = 0
    /// The first bytes of a PES packet, until its header is complete.
    private var head: [UInt8] = []
    private var isInHeader = false
    private var hasPES = false
    /// The number of bytes of the PES packet that have not arrived yet; nil if its size is unknown.
    private var left: Int?
    /// Whether the PES packet seems to be complete.
    private var isAtEnd = false
    /// The number of PES packets in a row whose stated size was right.
    private var rightSizes = 0

    /// The number of values of the counter, which repeats after as many packets.
    private static let counterRange = 16
    /// The number of scrambled packets, without one that can be read, after which the stream counts as scrambled.
    private static let scrambledEnough = 64

    init(settings: DepacketizerSettings) {
        self.settings = settings
        tables = ProgramTables()
        head.reserveCapacity(PESHeader.largest + TransportPacket.size)
    }

    /// The state of the search for video.
    func state(_ statistics: DepacketizerStatistics) -> TransportStreamState {
        if isChanged { return .changed }
        if let video {
            let isScrambled = !hasContent && statistics.scrambledTransportPackets >= Self.scrambledEnough
            return isScrambled ? .scrambled : hasContent ? .known(video.codec) : .unknown
        }
        return tables.types.isEmpty ? .unknown : .unreadable(types: tables.types)
    }

    /// Reads a payload.
    func add(
        _ payload: RawSpan, lostBefore: Int, at time: MonotonicTime, hasMore: Bool,
        to builder: inout AccessUnitBuilder
    ) {
        if lostBefore > 0 {
            framer.noteLoss()
            noteLoss(of: lostBefore)
        }
        let gaps = framer.gaps
        framer.read(payload) { bytes in read(bytes, at: time, &builder) }
        if framer.gaps != gaps {
            builder.statistics.malformedTransportPackets &+= framer.gaps &- gaps
            possibleLoss = max(possibleLoss, Self.counterRange)
        }
        if isAtEnd {
            nal?.finishPES(at: time, hasMore: hasMore, &builder)
            pictures?.finishPES(at: time, hasMore: hasMore, &builder)
        }
    }

    private func noteLoss(of payloads: Int) {
        let packets = payloads.multipliedReportingOverflow(by: framer.mostPackets)
        let sum = possibleLoss.addingReportingOverflow(packets.partialValue)
        possibleLoss = packets.overflow || sum.overflow || payloads < 0 ? .max : sum.partialValue
    }

    private func read(_ bytes: RawSpan, at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        guard let packet = TransportPacket(bytes) else {
            builder.statistics.malformedTransportPackets &+= 1
            return
        }
        if let video, packet.pid == video.pid {
            if packet.hasDiscontinuity, video.clockPID == video.pid { builder.isTimelineBroken = true }
            return readVideo(packet, bytes, at: time, &builder)
        }
        if packet.pid == video?.clockPID, packet.hasDiscontinuity { builder.isTimelineBroken = true }
        guard packet.hasPayload, !packet.isScrambled, tables.reads(packet.pid) else { return }
        builder.statistics.malformedSections &+= tables.read(packet, bytes.extracting(packet.payload))
        if tables.video != video { follow(&builder) }
    }

    /// Changes to another stream, as the program's map requires.
    private func follow(_ builder: inout AccessUnitBuilder) {
        let before = video
        video = tables.video
        guard let video else { return }
        if let before, before.codec != video.codec {
            isChanged = true
            return
        }
        guard before?.pid != video.pid else { return }
        nal?.noteSplice(&builder)
        pictures?.noteSplice(&builder)
        forgetPosition()
        builder.isTimelineBroken = before != nil
        guard before == nil else { return }
        switch video.codec {
        case .h264, .hevc:
            nal = NALDepacketizer(
                isHEVC: video.codec == .hevc, usesDONL: false, isByteStream: true, settings: settings)
        default: pictures = StartCodeDepacketizer(isMPEG4: video.type == 0x10, settings: settings)
        }
    }

    private func forgetPosition() {
        (last, possibleLoss, hasPES, isInHeader, left, isAtEnd) = (nil, 0, false, false, nil, false)
    }

    // MARK: The video

    private func readVideo(
        _ packet: TransportPacket, _ bytes: RawSpan, at time: MonotonicTime, _ builder: inout AccessUnitBuilder
    ) {
        guard packet.hasPayload, !isChanged else { return }
        guard isNext(packet, bytes, &builder) else { return }
        guard !packet.isScrambled else {
            builder.statistics.scrambledTransportPackets &+= 1
            return noteGap(1, &builder)
        }
        builder.statistics.videoTransportPackets &+= 1
        let payload = bytes.extracting(packet.payload)
        if packet.startsUnit {
            if let left, left > 0, rightSizes >= 8, hasPES { noteGap(1, &builder) }
            if let left, left > 0 { rightSizes = 0 }
            head.removeAll(keepingCapacity: true)
            (isInHeader, hasPES, isAtEnd) = (true, true, false)
        } else if isAtEnd {
            isAtEnd = false
            // The packet is longer than its stated size.
            if left != nil { (left, rightSizes) = (nil, 0) }
            nal?.noteFalseEnd(&builder)
            pictures?.noteFalseEnd(&builder)
        }
        guard hasPES else { return }
        if isInHeader {
            readHeader(payload, at: time, &builder)
        } else {
            feed(payload, at: time, &builder)
        }
        if hasPES, !isInHeader, left.map({ $0 == 0 }) ?? packet.isStuffed {
            isAtEnd = true
            nal?.noteEndOfPES()
            pictures?.noteEndOfPES()
            if left == 0 { rightSizes = min(rightSizes + 1, 1 << 30) }
        }
    }

    private func readHeader(_ payload: RawSpan, at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        for index in 0..<payload.byteCount { self.head.append(payload[index]) }
        let head = head
        switch PESHeader.read(head.rawBytes) {
        case .incomplete: break
        case .invalid:
            (isInHeader, hasPES) = (false, false)
            builder.statistics.malformed &+= 1
            noteGap(1, &builder)
        case .header(let header):
            isInHeader = false
            guard !header.isScrambled else {
                builder.statistics.scrambledTransportPackets &+= 1
                hasPES = false
                return noteGap(1, &builder)
            }
            hasContent = true
            left = header.size
            let timestamp = header.presentationTime.map { UInt32(truncatingIfNeeded: $0) }
            nal?.beginPES(timestamp: timestamp, &builder)
            pictures?.beginPES(timestamp: timestamp, &builder)
            feed(head.rawBytes.extracting(header.end..<head.count), at: time, &builder)
        }
    }

    private func feed(_ bytes: RawSpan, at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        if let left {
            self.left = left - bytes.byteCount
            // A size of 16 bits is too small for large pictures, and some senders state one nevertheless.
            if left < bytes.byteCount { (self.left, rightSizes) = (nil, 0) }
        }
        nal?.addBytes(bytes, at: time, &builder)
        pictures?.addBytes(bytes, at: time, &builder)
    }

    // MARK: Losses

    /// Returns whether a packet is new rather than a repetition. Notes what is missing before it.
    private func isNext(_ packet: TransportPacket, _ bytes: RawSpan, _ builder: inout AccessUnitBuilder) -> Bool {
        let end = (bytes.bigEndian64(at: bytes.byteCount - 16), bytes.bigEndian64(at: bytes.byteCount - 8))
        let possible = possibleLoss
        possibleLoss = 0
        defer { last = (packet.counter, end) }
        guard let last else { return true }
        // Section 2.4.3.3: a packet may come twice, with the same counter.
        if packet.counter == last.counter, end == last.end, possible < Self.counterRange {
            builder.statistics.repeatedTransportPackets &+= 1
            return false
        }
        let missing = (packet.counter - last.counter - 1) & 15
        if possible >= Self.counterRange {
            builder.statistics.lostTransportPackets &+= missing
            noteGap(possible, &builder)
        } else if missing > 0 {
            if packet.hasDiscontinuity, possible == 0 {
                nal?.noteSplice(&builder)
                pictures?.noteSplice(&builder)
                (hasPES, isInHeader, left, isAtEnd) = (false, false, nil, false)
            } else {
                builder.statistics.lostTransportPackets &+= missing
                noteGap(missing, &builder)
            }
        }
        return true
    }

    private func noteGap(_ count: Int, _ builder: inout AccessUnitBuilder) {
        nal?.noteGap(count, &builder)
        pictures?.noteGap(&builder)
        (left, isAtEnd) = (nil, false)
        // Without its beginning, the rest of a header cannot be distinguished from content.
        if isInHeader { (isInHeader, hasPES) = (false, false) }
    }

    // MARK: Time and ends

    /// The time at which ``tick(at:_:)`` is due; nil if nothing is.
    var quietDeadline: MonotonicTime? { nal?.quietDeadline ?? pictures?.quietDeadline }

    func tick(at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        nal?.tick(at: time, &builder)
        pictures?.tick(at: time, &builder)
    }

    func end(_ builder: inout AccessUnitBuilder) {
        nal?.end(&builder)
        pictures?.end(&builder)
        forgetPosition()
    }

    func restart(_ builder: inout AccessUnitBuilder) {
        nal?.restart(&builder)
        pictures?.restart(&builder)
        framer.noteLoss()
        tables.reset()
        forgetPosition()
    }
}
