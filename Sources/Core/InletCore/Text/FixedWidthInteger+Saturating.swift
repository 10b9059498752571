/// Arithmetic for numbers that a file, a network or a device states: any of them may be at the edge of its type, where
/// `+`, `-` and `*` would end the process.
///
/// Inlined, as other modules use these functions for each frame.
extension FixedWidthInteger {
    /// Returns the sum, clamped to the type's range.
    @inlinable package func adding(saturating other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the type's range.
    @inlinable package func subtracting(saturating other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// Returns the product, clamped to the type's range.
    @inlinable package func multiplied(saturatingBy other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) != (other < 0) ? .min : .max) : product
    }
}
