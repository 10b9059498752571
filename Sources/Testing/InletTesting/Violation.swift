/// A rule of a plug-in contract that was broken, and how.
public struct Violation: Sendable, Hashable, CustomStringConvertible {
    /// The rule's name, such as `cancellation`.
    public let rule: String
    /// An explanation for people.
    public let explanation: String

    public init(_ rule: String, _ explanation: String) {
        self.rule = rule
        self.explanation = explanation
    }

    public var description: String { "\(rule): \(explanation)" }
}
