/// Identifies one attachment of a sink to a capturer.
public struct SinkID: Sendable, Hashable, CustomStringConvertible {
    package let number: Int

    package init(number: Int) { self.number = number }

    public var description: String { "sink-\(number)" }
}
