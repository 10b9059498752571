import InletCore

/// H.264 and H.265 in Annex B, as transport streams carry them: NAL units without sizes, so only the bytes after a unit
/// show its end.
///
/// The end of a PES packet in the transport stream replaces RTP's marker. It counts only once it has proven to be the
/// end of a picture: see ``PictureEndPolicy``.
extension NALDepacketizer {
    /// The position of the reader in the stream of bytes.
    struct ByteStream {
        /// Whether bytes are dropped until the next start code, because the bytes before them are missing.
        var isSkipping = true
        /// The zeros at the end of the bytes so far, while no unit is open.
        var zeros = 0
        /// Whether bytes are missing since the last PES header, so that it is unknown to which picture others belong.
        var isUncertain = false
        /// Whether no byte has come since the last PES header.
        var isAtStart = false
    }

    /// Records the header of a PES packet.
    ///
    /// - Parameter timestamp: the time of the first picture that begins in it; nil if it states none.
    mutating func beginPES(timestamp: UInt32?, _ builder: inout AccessUnitBuilder) {
        if let timestamp { arrival.timestamp = timestamp }
        guard stream != nil else { return }
        if stream?.isUncertain == true, !picture.hasSlice {
            // SEI messages of a lost picture do not apply to the next one.
            builder.discard()
            picture = Picture()
            unit = Unit()
            stream?.isSkipping = true
            stream?.zeros = 0
        }
        stream?.isUncertain = false
        stream?.isAtStart = true
    }

    /// Reads bytes that follow the ones before.
    mutating func addBytes(_ bytes: RawSpan, at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        guard bytes.byteCount > 0, stream != nil else { return }
        arrival.time = time
        if stream?.isAtStart == true {
            stream?.isAtStart = false
            // The end of the last picture, then, is only here.
            if !Self.beginsWithStartCode(bytes) { noteFalseEnd(&builder) }
        }
        if unit.isOpen {
            feed(bytes, &builder)
        } else {
            var zeros = stream?.zeros ?? 0
            guard let start = Self.behindStartCode(bytes, &zeros) else {
                stream?.zeros = zeros
                return
            }
            stream?.isSkipping = false
            stream?.zeros = 0
            openUnit()
            feed(bytes.extracting(start..<bytes.byteCount), &builder)
        }
        if builder.isOpen { builder.open(timestamp: arrival.timestamp, at: time) }
        setDeadline(at: time)
    }

    /// Records that a PES packet seems to end with the bytes so far.
    mutating func noteEndOfPES() { picture.hasMarker = picture.hasSlice && unit.isOpen }

    /// Finishes the picture if the PES packet that seems to be over is known to end it.
    ///
    /// - Parameter hasMore: whether more bytes have arrived already.
    mutating func finishPES(at time: MonotonicTime, hasMore: Bool, _ builder: inout AccessUnitBuilder) {
        guard picture.hasMarker else { return }
        let isSlice = unit.isWritten && Self.isSlice(Self.type(unit.head.0, isHEVC: isHEVC), isHEVC: isHEVC)
        let slices = picture.slices + (isSlice ? 1 : 0)
        if policy.trustsMarker(at: builder.count), picture.isDamaged || policy.isComplete(slices: slices) {
            if hasMore, !picture.isDamaged {
                isHeld = true
            } else {
                closeUnit(&builder)
                endPicture(policy.hasSliceMarkers ? .sliceCount : .marker, &builder)
            }
        }
        setDeadline(at: time)
    }

    /// Records that a PES packet continues after its apparent end.
    mutating func noteFalseEnd(_ builder: inout AccessUnitBuilder) {
        if picture.hasMarker {
            picture.hasMarker = false
            isHeld = false
        } else if let stream, !stream.isSkipping, !unit.isOpen {
            // The picture was returned too early, without its end.
            self.stream?.isSkipping = true
            builder.statistics.latePictureParts &+= 1
            if let last, last.end != .marker { policy.noteLatePart(after: last.end) }
            if last?.isReference != false { tracker.noteReferenceLoss() }
        } else {
            return
        }
        builder.statistics.markersInFragments &+= 1
        policy.noteFalseMarker()
    }

    /// Records that packets are missing behind the bytes so far.
    mutating func noteGap(_ count: Int, _ builder: inout AccessUnitBuilder) {
        if isHeld {
            closeUnit(&builder)
            endPicture(.marker, &builder)
        }
        // The number of pictures that the lost packets belonged to is unknown.
        noteLoss(count, timestamp: builder.timestamp &+ 1, &builder)
        unit.isOpen = false
        stream = ByteStream()
        stream?.isUncertain = true
    }

    /// Finishes the picture before a discontinuity that the sender states.
    mutating func noteSplice(_ builder: inout AccessUnitBuilder) {
        closeUnit(&builder)
        if picture.hasSlice { endPicture(.streamEnd, &builder) }
        reset(&builder)
        tracker.noteReferenceLoss()
    }

    private static func beginsWithStartCode(_ bytes: RawSpan) -> Bool {
        let start = bytes.startCode(from: 0)
        return start == 0 && bytes.byteCount >= 3 || start == 1 && bytes.byteCount >= 4 && bytes[0] == 0
    }

    /// Returns the index after the first start code, whose zeros may precede the bytes; nil without one.
    private static func behindStartCode(_ bytes: RawSpan, _ zeros: inout Int) -> Int? {
        var index = 0
        while index < bytes.byteCount, bytes[index] == 0 { index += 1 }
        zeros = min(zeros + index, 2)
        if zeros == 2, index < bytes.byteCount, bytes[index] == 1 { return index + 1 }
        let code = bytes.startCode(from: index)
        if code < bytes.byteCount { return code + 3 }
        guard index < bytes.byteCount else { return nil }
        zeros = 0
        while zeros < 2, bytes[bytes.byteCount - 1 - zeros] == 0 { zeros += 1 }
        return nil
    }
}
