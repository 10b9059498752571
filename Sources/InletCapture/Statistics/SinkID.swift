/// Names one attachment of a sink to a capturer.
public struct SinkID: Sendable, Hashable, CustomStringConvertible {
    let number: Int
    public var description: String { "sink-\(number)" }
}
