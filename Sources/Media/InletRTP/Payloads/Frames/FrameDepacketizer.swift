import InletCore

/// Joins the payloads of VP8 (RFC 7741), VP9 (RFC 9628), MPEG-4 Visual (RFC 6416) and AV1 (AOMedia's RTP payload
/// format 1.0) to frames. They end with the marker, or with a change of the timestamp.
struct FrameDepacketizer {
    enum Kind { case av1, vp8, vp9, mpeg4 }

    /// The known facts about the frame that is being built.
    struct Frame {
        var isDamaged = false
        /// Whether packets are missing of which it is unknown whether they belong to this frame.
        var hasLossAtEdge = false
        var isKey = false
        var isReference: Bool?
        var hasPicture = false
        var hasSequenceHeader = false
        /// The sizes of the layers of VP9, to write an index of them.
        var layers: [Int] = []
        var layerStart = 0
        /// The offset of the size of the OBU that is being built; nil if no OBU is open.
        var openSize: Int?
        /// Whether the OBU that is being built is left out.
        var isSkipping = false
        /// The last bytes of MPEG-4, in which a start code may begin.
        var recent: UInt32 = 0xFFFF_FFFF
    }

    let kind: Kind
    let configuration: [UInt8]
    var frame = Frame()
    private var hasLoss = false
    private var hasSeenMarker = false

    init(_ kind: Kind, settings: DepacketizerSettings) {
        self.kind = kind
        configuration = settings.parameterSets.first.flatMap { $0.count <= 65536 ? $0 : nil } ?? []
    }

    mutating func add(
        _ header: RTPHeader, _ payload: RawSpan, lostBefore: Int, at time: MonotonicTime,
        to builder: inout AccessUnitBuilder
    ) {
        let isSame = builder.isOpen && builder.timestamp == header.timestamp
        if lostBefore > 0 {
            if builder.isOpen { frame.isDamaged = true }
            if !isSame {
                frame.hasLossAtEdge = builder.isOpen
                hasLoss = true
            }
        }
        if builder.isOpen, !isSame {
            if kind == .mpeg4, !frame.hasPicture, !frame.isDamaged {
                builder.statistics.adoptedTimestamps &+= 1
                builder.timestamp = header.timestamp
            } else {
                finish(&builder)
            }
        }
        if payload.byteCount > 0 {
            let isFirst = !builder.isOpen
            builder.open(timestamp: header.timestamp, at: time, headroom: configuration.count)
            let isRead: Bool
            switch kind {
            case .av1: isRead = addAV1(payload, isFirst: isFirst, &builder)
            case .vp8: isRead = addVP8(payload, isFirst: isFirst, &builder)
            case .vp9: isRead = addVP9(payload, isFirst: isFirst, &builder)
            case .mpeg4: isRead = addMPEG4(payload, isFirst: isFirst, &builder)
            }
            if !isRead {
                builder.statistics.malformed &+= 1
                frame.isDamaged = true
            }
        }
        guard header.hasMarker else { return }
        hasSeenMarker = true
        finish(&builder, hasMarker: true)
    }

    /// Records that the frame's beginning is missing.
    mutating func noteMissingStart() {
        frame.isDamaged = true
        frame.hasLossAtEdge = true
    }

    private mutating func finish(_ builder: inout AccessUnitBuilder, hasMarker: Bool = false) {
        guard builder.isOpen else { return }
        let frame = frame
        self.frame = Frame()
        if !hasMarker { builder.statistics.missingMarkers &+= 1 }
        if kind == .vp9, frame.layers.count > 1 { appendIndex(frame.layers, &builder) }
        if kind == .mpeg4, frame.isKey, !frame.hasSequenceHeader, !configuration.isEmpty {
            builder.insert(configuration.rawBytes, behind: 0)
        }
        var facts = AccessUnitBuilder.Facts()
        facts.isDamaged = frame.isDamaged || frame.openSize != nil || !frame.hasPicture
        facts.isKey = kind == .av1 ? frame.isKey && frame.hasSequenceHeader : frame.isKey
        facts.isReference = frame.isReference
        facts.isAfterLoss = hasLoss
        if builder.finish(facts) {
            hasLoss = false
        } else if frame.isReference == false, !frame.hasLossAtEdge {
            builder.statistics.lostNonReference &+= 1
        } else {
            hasLoss = true
        }
    }

    mutating func end(_ builder: inout AccessUnitBuilder) {
        if builder.isOpen, hasSeenMarker { frame.isDamaged = true }
        finish(&builder)
    }

    mutating func restart(_ builder: inout AccessUnitBuilder) {
        builder.discard()
        frame = Frame()
        hasLoss = true
    }
}
