import InletCore
struct JPEGDepacketizer {
    init(size: ImageSize?) {}
    mutating func add(
        _ header: RTPHeader, _ packet: RawSpan, lostBefore: Int, at time: MonotonicTime,
        to builder: inout AccessUnitBuilder
    ) {}
    mutating func end(_ builder: inout AccessUnitBuilder) {}
    mutating func restart(_ builder: inout AccessUnitBuilder) {}
}
