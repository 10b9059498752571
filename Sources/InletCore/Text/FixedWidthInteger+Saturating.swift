/// Arithmetic for numbers that a file, a network or a device states: any of them may be at the edge of its type, and
/// `+`, `-` and `*` would end the process there.
extension FixedWidthInteger {
    /// The sum, or the end of the type's range that it lies beyond.
    package func adding(saturating other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the type's range that it lies beyond.
    package func subtracting(saturating other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the end of the type's range that it lies beyond.
    package func multiplied(saturatingBy other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
    }
}
