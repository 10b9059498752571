import InletCore
struct FrameDepacketizer {
    enum Kind { case av1, vp8, vp9, mpeg4 }
    init(_ kind: Kind, settings: DepacketizerSettings) {}
    mutating func add(
        _ header: RTPHeader, _ payload: RawSpan, lostBefore: Int, at time: MonotonicTime,
        to builder: inout AccessUnitBuilder
    ) {}
    mutating func end(_ builder: inout AccessUnitBuilder) {}
    mutating func restart(_ builder: inout AccessUnitBuilder) {}
}
