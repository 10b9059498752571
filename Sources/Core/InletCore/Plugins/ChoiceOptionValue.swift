/// An option with a fixed set of words; conform a `String` enumeration to it.
public protocol ChoiceOptionValue: OptionValue, CaseIterable, RawRepresentable where RawValue == String {}

extension ChoiceOptionValue {
    /// Reads one of the words.
    public init?(optionText: String) { self.init(rawValue: optionText) }
    /// The word.
    public var optionText: String { rawValue }
    /// The words, in the order of the cases.
    public static var typeDescription: String { allCases.map(\.rawValue).joined(separator: " | ") }
}
