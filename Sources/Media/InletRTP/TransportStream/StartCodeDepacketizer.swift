import InletCore

/// Cuts a stream of bytes of MPEG-1, MPEG-2 (ISO/IEC 13818-2) or MPEG-4 Visual (ISO/IEC 14496-2) to pictures, by their
/// start codes. A picture includes the headers of sequence and group in front of it.
///
/// A picture that a PES packet seems to end with is complete only once that has proven right: see ``PictureEndPolicy``.
struct StartCodeDepacketizer {
    /// The facts about the picture that is being built.
    private struct Picture {
        /// Whether its own header has come.
        var hasHeader = false
        var isKey = false
        var isReference: Bool?
        /// Whether a PES packet seemed to end after the bytes so far.
        var hasMarker = false
        var isDamaged = false
    }

    private let isMPEG4: Bool
    private var policy: PictureEndPolicy
    private var picture = Picture()
    /// The last four bytes.
    private var recent: UInt32 = .max
    /// The number of header bytes that are still needed to know the picture's type.
    private var untilType = 0
    private var hasSequence = false
    private var hasLoss = false
    /// Whether bytes are missing since the last PES header.
    private var isUncertain = false
    /// Whether no byte has come since the last PES header.
    private var isAtStart = false
    /// Whether the last picture was returned by the seeming end of a PES packet, and no other has begun.
    private var isEndedByPES = false
    private var timestamp: UInt32 = 0
    /// The time at which ``tick(at:_:)`` is due: the picture is complete unless more bytes are there already.
    private(set) var quietDeadline: MonotonicTime?

    init(isMPEG4: Bool, settings: DepacketizerSettings) {
        self.isMPEG4 = isMPEG4
        policy = PictureEndPolicy(quietTime: settings.quietTime, provesMarkers: true)
    }

    // MARK: PES packets

    /// Records the header of a PES packet.
    ///
    /// - Parameter timestamp: the time of the first picture that begins in it; nil if it states none.
    mutating func beginPES(timestamp: UInt32?, _ builder: inout AccessUnitBuilder) {
        if let timestamp { self.timestamp = timestamp }
        if isUncertain, !picture.hasHeader { discard(&builder) }
        (isUncertain, isAtStart) = (false, true)
    }

    /// Records that a PES packet seems to end with the bytes so far.
    mutating func noteEndOfPES() { picture.hasMarker = picture.hasHeader }

    /// Finishes the picture if the PES packet that seems to be over is known to end it.
    ///
    /// - Parameter hasMore: whether more bytes have arrived already.
    mutating func finishPES(at time: MonotonicTime, hasMore: Bool, _ builder: inout AccessUnitBuilder) {
        guard picture.hasMarker, policy.trustsMarker(at: builder.count) else { return }
        if hasMore, !picture.isDamaged {
            quietDeadline = time
        } else {
            endPicture(.marker, &builder)
            isEndedByPES = true
        }
    }

    /// Records that a PES packet or a picture continues after its apparent end.
    mutating func noteFalseEnd(_ builder: inout AccessUnitBuilder) {
        if picture.hasMarker {
            picture.hasMarker = false
            quietDeadline = nil
        } else if isEndedByPES {
            builder.statistics.latePictureParts &+= 1
            (hasLoss, isEndedByPES) = (true, false)
        } else {
            return
        }
        builder.statistics.markersInFragments &+= 1
        policy.noteFalseMarker()
    }

    /// Records that packets are missing behind the bytes so far.
    mutating func noteGap(_ builder: inout AccessUnitBuilder) {
        if quietDeadline != nil { endPicture(.marker, &builder) }
        if picture.hasHeader { picture.isDamaged = true } else { discard(&builder) }
        (hasLoss, isUncertain, isEndedByPES) = (true, true, false)
        (recent, untilType) = (.max, 0)
    }

    /// Finishes the picture before a discontinuity that the sender states.
    mutating func noteSplice(_ builder: inout AccessUnitBuilder) {
        if picture.hasHeader { endPicture(.streamEnd, &builder) }
        restart(&builder)
    }

    mutating func tick(at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        guard let deadline = quietDeadline, time >= deadline else { return }
        endPicture(.marker, &builder)
        isEndedByPES = true
    }

    /// Finishes the last picture of the stream.
    mutating func end(_ builder: inout AccessUnitBuilder) {
        if !picture.hasMarker, policy.expectsMarker { picture.isDamaged = true }
        if picture.hasHeader { endPicture(.streamEnd, &builder) }
        discard(&builder)
    }

    mutating func restart(_ builder: inout AccessUnitBuilder) {
        discard(&builder)
        (hasLoss, isUncertain, isAtStart, isEndedByPES) = (true, false, false, false)
    }

    private mutating func discard(_ builder: inout AccessUnitBuilder) {
        builder.discard()
        picture = Picture()
        (recent, untilType, quietDeadline) = (.max, 0, nil)
    }

    // MARK: Bytes

    /// Reads bytes that follow the ones before.
    mutating func addBytes(_ bytes: RawSpan, at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        guard bytes.byteCount > 0 else { return }
        if isAtStart {
            isAtStart = false
            // The end of the last picture, then, is only here.
            if bytes.startCode(from: 0) > 0 { noteFalseEnd(&builder) }
        }
        var index = 0
        while index < bytes.byteCount {
            // Whatever may belong to a start code or to a picture's type is read byte by byte.
            if !builder.isOpen || untilType > 0 || recent & 0xFF == 0 || recent & 0xFF_FFFF == 1 {
                take(bytes[index], at: time, &builder)
                index += 1
            } else {
                let code = bytes.startCode(from: index)
                let end = min(code + 3, bytes.byteCount)
                builder.append(bytes.extracting(index..<end))
                for place in max(index, end - 4)..<end { recent = recent << 8 | UInt32(bytes[place]) }
                index = end
            }
        }
        if builder.isOpen { builder.open(timestamp: timestamp, at: time) }
    }

    private mutating func take(_ byte: UInt8, at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        recent = recent << 8 | UInt32(byte)
        guard builder.isOpen else {
            guard recent & 0xFF_FFFF == 1 else { return }
            builder.open(timestamp: timestamp, at: time)
            return builder.append([0, 0, 1])
        }
        builder.append(byte)
        if untilType > 0 {
            untilType -= 1
            if untilType == 0 { noteType(isMPEG4 ? Int(byte >> 6) : Int(byte >> 3 & 7) - 1) }
        } else if recent & 0xFFFF_FF00 == 0x100 {
            note(code: byte, at: time, &builder)
        }
    }

    /// Records a start code: ISO/IEC 13818-2, table 6-1; ISO/IEC 14496-2, table 6-3.
    private mutating func note(code: UInt8, at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        let isHeader = code == (isMPEG4 ? 0xB6 : 0)
        let isSequence = isMPEG4 ? (0x20...0x2F).contains(code) : code == 0xB3
        let isBeginning =
            isHeader || isSequence
            || (isMPEG4 ? code < 0x20 || code == 0xB0 || code == 0xB3 || code == 0xB5 : code == 0xB8)
        if isBeginning {
            if picture.hasHeader {
                endPicture(quietDeadline == nil ? .pictureStart : .marker, upTo: builder.end - 4, &builder)
                builder.timestamp = timestamp
            }
            isEndedByPES = false
        } else if !isMPEG4, (1...0xAF).contains(code) {
            // A slice of a picture that seemed to be over, or whose header is missing.
            if picture.hasMarker || !picture.hasHeader { noteFalseEnd(&builder) }
            if !picture.hasHeader { picture.isDamaged = true }
        }
        if isUncertain { picture.isDamaged = true }
        if isSequence { hasSequence = true }
        if isHeader {
            picture.hasHeader = true
            untilType = isMPEG4 ? 1 : 2
        }
    }

    /// Records the type of the picture: 0 is I, 1 is P, 2 is B (ISO/IEC 13818-2, table 6-12, less one; ISO/IEC 14496-2,
    /// table 6-20).
    private mutating func noteType(_ type: Int) {
        picture.isKey = type == 0 && hasSequence
        picture.isReference = type != 2
    }

    private mutating func endPicture(
        _ end: PictureEndPolicy.End, upTo place: Int? = nil, _ builder: inout AccessUnitBuilder
    ) {
        let picture = picture
        self.picture = Picture()
        (quietDeadline, untilType) = (nil, 0)
        let size = (place ?? builder.end) - builder.start
        if place == nil { recent = .max }
        guard builder.isOpen else { return }
        var facts = AccessUnitBuilder.Facts()
        facts.isDamaged = picture.isDamaged
        facts.isKey = picture.isKey
        facts.isIntra = picture.isKey ? true : nil
        facts.isReference = picture.isReference
        facts.isAfterLoss = hasLoss
        if builder.finish(facts, upTo: place) {
            hasLoss = false
        } else if picture.isReference == false, !picture.isDamaged {
            builder.statistics.lostNonReference &+= 1
        } else {
            hasLoss = true
        }
        guard !picture.isDamaged else { return }
        if !picture.hasMarker, end != .streamEnd { builder.statistics.missingMarkers &+= 1 }
        policy.noteEnd(end, slices: 1, size: size, hadMarker: picture.hasMarker)
    }
}
