import InletCore

/// Joins the payloads of H.264 (RFC 6184) and H.265 (RFC 7798) to access units.
///
/// A unit is finished with its last packet if the sender's markers are right. Markers are not believed where they
/// contradict the NAL units: see ``PictureEndPolicy``.
struct NALDepacketizer {
    /// The known facts about the picture that is being built.
    struct Picture {
        /// Whether a slice, or a part of one, has arrived.
        var hasSlice = false
        var slices = 0
        var nals = 0
        var hasMarker = false
        var isDamaged = false
        /// Packets that are missing within the picture for certain.
        var lostInside = 0
        /// Whether packets are missing of which it is unknown whether they belong to this picture.
        var hasLossAtEdge = false
        var isKey = false
        var isReference: Bool?
        var isIntra: Bool?
        var recoveryFrames: Int?
        var number: ReferenceTracker.Number?
        /// The header fields of H.265 about the pictures that it refers to.
        var header: HEVCPictureHeader?
        /// The kinds of parameter sets in the unit, one bit each.
        var kinds: UInt8 = 0
        /// The size of the access unit delimiter at the front, which parameter sets must not precede.
        var delimiterSize = 0
        /// The offset of a prefix NAL unit, which belongs to the next slice and so perhaps to the next picture.
        var prefixStart: Int?
        var isLatePart = false
    }

    /// The NAL unit that is being built.
    struct Unit {
        var isOpen = false
        var isFragment = false
        /// Whether a packet with the marker ended within it.
        var hasMarker = false
        /// The header and the byte after it, which show whether a picture begins.
        var head: (UInt8, UInt8, UInt8) = (0, 0, 0)
        var headCount = 0
        /// Whether the bytes are in the builder, from `start` on.
        var isWritten = false
        var start = 0
        var trailingZeros = 0
    }

    let isHEVC: Bool
    let usesDONL: Bool
    var sets = ParameterSets()
    var tracker = ReferenceTracker()
    var references = HEVCReferences()
    var policy: PictureEndPolicy
    var picture = Picture()
    var unit = Unit()
    /// Whether the picture is complete by its marker, and only data that is already buffered can show otherwise.
    var isHeld = false
    /// The time at which the picture counts as complete if nothing arrives.
    var quietDeadline: MonotonicTime?
    /// The end and the facts of the last returned picture, to detect parts that come too late.
    var last: (end: PictureEndPolicy.End, timestamp: UInt32, isReference: Bool?)?
    /// The highest temporal layer so far, and the pictures since it was first seen.
    var highestLayer = 0
    var picturesAtLayer = 0

    /// The position of the reader of a stream of bytes; nil if the payloads are those of RFC 6184 or RFC 7798.
    var stream: ByteStream?

    /// - Parameter isByteStream: whether the NAL units come as a stream of bytes, with start codes. The default is
    ///   false.
    init(isHEVC: Bool, usesDONL: Bool, isByteStream: Bool = false, settings: DepacketizerSettings) {
        self.isHEVC = isHEVC
        self.usesDONL = usesDONL
        stream = isByteStream ? ByteStream() : nil
        // With a marker on each slice, the first picture would end with its first slice. Decoders of H.265 do not
        // notice, and with H.264 everything up to the next key frame would be lost.
        policy = PictureEndPolicy(
            quietTime: settings.quietTime, provesMarkers: isByteStream,
            doubtsFirst: settings.doubtsFirstMarker && !isByteStream)
    }

    mutating func add(
        _ header: RTPHeader, _ payload: RawSpan, lostBefore: Int, at time: MonotonicTime, hasMore: Bool,
        to builder: inout AccessUnitBuilder
    ) {
        if isHeld, lostBefore > 0 || header.timestamp != builder.timestamp { endPicture(.marker, &builder) }
        // The marker of the first picture was right, so that nothing that is missing from here on belongs to it.
        if builder.isOpen, header.timestamp != builder.timestamp, picture.hasMarker, !policy.knowsMarkers, !unit.isOpen
        {
            endPicture(.timestamp, &builder)
        }
        if lostBefore > 0 { noteLoss(lostBefore, timestamp: header.timestamp, &builder) }
        if builder.isOpen, header.timestamp != builder.timestamp {
            closeUnit(&builder)
            if picture.hasSlice {
                endPicture(.timestamp, &builder)
            } else {
                builder.statistics.adoptedTimestamps &+= 1
                builder.timestamp = header.timestamp
            }
        }
        if builder.isOpen, picture.hasSlice { policy.notePause(time - arrival.time) }
        arrival = (header.timestamp, time)
        if payload.byteCount > 0 {
            if isHEVC { addHEVC(payload, &builder) } else { addH264(payload, &builder) }
        }
        if builder.isOpen { builder.open(timestamp: header.timestamp, at: time) }
        if header.hasMarker { noteMarker(at: time, hasMore: hasMore, &builder) }
        setDeadline(at: time)
    }

    /// The timestamp and the time of the packet that is being read.
    var arrival: (timestamp: UInt32, time: MonotonicTime) = (0, MonotonicTime(nanoseconds: 0))

    private mutating func noteMarker(at time: MonotonicTime, hasMore: Bool, _ builder: inout AccessUnitBuilder) {
        guard picture.hasSlice else {
            builder.statistics.markersWithoutPicture &+= 1
            return
        }
        picture.hasMarker = true
        if unit.isOpen {
            unit.hasMarker = true
            builder.statistics.markersInFragments &+= 1
        } else if picture.isDamaged {
            endPicture(.marker, &builder)
        } else if policy.isComplete(slices: picture.slices) {
            if hasMore {
                isHeld = true
            } else {
                endPicture(policy.hasSliceMarkers ? .sliceCount : .marker, &builder)
            }
        }
    }

    mutating func setDeadline(at time: MonotonicTime) {
        if isHeld {
            quietDeadline = time
        } else if stream != nil {
            // A NAL unit in a stream of bytes never looks complete, so only a seeming end of it may be one.
            let mayEnd = picture.hasSlice && picture.hasMarker && policy.trustsMarker(at: 0) && policy.needsQuiet
            quietDeadline = mayEnd ? time + policy.quiet : nil
        } else if picture.hasSlice, picture.hasMarker, !policy.knowsMarkers {
            quietDeadline = time + PictureEndPolicy.firstQuietTime
        } else if picture.hasSlice, unit.isOpen ? unit.hasMarker : policy.needsQuiet {
            quietDeadline = time + policy.quiet
        } else {
            quietDeadline = nil
        }
    }

    /// Finishes the picture if it was quiet for long enough.
    mutating func tick(at time: MonotonicTime, _ builder: inout AccessUnitBuilder) {
        guard let deadline = quietDeadline, time >= deadline else { return }
        quietDeadline = nil
        guard picture.hasSlice else { return }
        closeUnit(&builder)
        if isHeld {
            endPicture(policy.hasSliceMarkers ? .sliceCount : .marker, &builder)
        } else {
            builder.statistics.quietEnds &+= 1
            endPicture(.quiet, &builder)
        }
    }

    /// Finishes the last picture of the stream.
    ///
    /// It is incomplete if it lacks a marker or the end of a fragment, unless the sender is known to send none.
    mutating func end(_ builder: inout AccessUnitBuilder) {
        let isCut = unit.isOpen && unit.isFragment && builder.statistics.fragmentsWithoutEnd == 0
        if !picture.hasMarker, isCut || policy.expectsMarker { picture.isDamaged = true }
        closeUnit(&builder)
        if picture.hasSlice { endPicture(.streamEnd, &builder) }
        reset(&builder)
    }

    /// Discards incomplete data.
    mutating func reset(_ builder: inout AccessUnitBuilder) {
        builder.discard()
        picture = Picture()
        unit = Unit()
        isHeld = false
        quietDeadline = nil
        last = nil
        if stream != nil { stream = ByteStream() }
    }
}
