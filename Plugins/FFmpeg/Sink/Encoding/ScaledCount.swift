import InletCore

/// A whole number that may have a suffix `k`, `M` or `G`, such as `800k` or `2.5M`.
struct ScaledCount: OptionValue, Comparable {
    var value: Int

    init(_ value: Int) { self.value = value }

    init?(optionText: String) {
        let scales: [(String, Double)] = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)]
        let scale = scales.first { optionText.hasByteSuffix($0.0) }
        guard let number = Double(scale == nil ? optionText : String(Substring(optionText.utf8.dropLast()))) else {
            return nil
        }
        let product = (number * (scale?.1 ?? 1)).rounded()
        guard product.isFinite, abs(product) < 1e15 else { return nil }
        value = Int(product)
    }

    var optionText: String {
        for (suffix, scale) in [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000)]
        where value != 0 && value % scale == 0 {
            return "\(value / scale)\(suffix)"
        }
        return "\(value)"
    }

    static var typeDescription: String { "NUMBER such as 800k or 2M" }
    static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}
