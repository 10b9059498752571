public import InletCore

/// A pixel format that a device offers, with its sizes and rates.
public struct V4L2FormatInfo: Sendable, Hashable {
    /// The format's letters.
    public var fourCC: FourCC
    /// The driver's description of it.
    public var summary: String
    /// Whether the pictures are compressed.
    public var isCompressed: Bool
    /// Whether the driver or a library converts it from another one in software.
    public var isEmulated: Bool
    /// The sizes, with the rates of each.
    public var sizes: [V4L2FrameSizes]

    public init(
        fourCC: FourCC, summary: String = "", isCompressed: Bool = false, isEmulated: Bool = false,
        sizes: [V4L2FrameSizes]
    ) {
        self.fourCC = fourCC
        self.summary = summary
        self.isCompressed = isCompressed
        self.isEmulated = isEmulated
        self.sizes = sizes
    }
}

/// One size, or a range of sizes, and the frame rates there.
public struct V4L2FrameSizes: Sendable, Hashable {
    /// The smallest size; the only one if ``step`` is nil.
    public var least: ImageSize
    /// The largest size.
    public var greatest: ImageSize
    /// The steps of width and height from ``least``; nil for a single size. V4L2 calls 1x1 continuous.
    public var step: ImageSize?
    /// The frame rates. For a range of sizes, those at the size nearest to 1280x720.
    public var rates: V4L2FrameRates

    public init(least: ImageSize, greatest: ImageSize, step: ImageSize?, rates: V4L2FrameRates) {
        self.least = least
        self.greatest = greatest
        self.step = step
        self.rates = rates
    }

    /// Creates a single size.
    public init(_ size: ImageSize, _ rates: [Rational]) {
        self.init(least: size, greatest: size, step: nil, rates: .discrete(rates))
    }

    /// Returns the size in the range that is nearest to the requested one.
    public func nearest(to size: ImageSize) -> ImageSize {
        guard let step else { return least }
        func nearest(_ wanted: Int, _ least: Int, _ greatest: Int, _ step: Int) -> Int {
            let clamped = min(max(wanted, least), greatest)
            let steps = (clamped - least + step / 2) / max(1, step)
            return min(least + steps * max(1, step), greatest)
        }
        return ImageSize(
            width: nearest(size.width, least.width, greatest.width, step.width),
            height: nearest(size.height, least.height, greatest.height, step.height))
    }
}

/// The frame rates of a mode, in frames a second.
public enum V4L2FrameRates: Sendable, Hashable {
    /// These rates, the highest first. Empty if the driver does not report any.
    case discrete([Rational])
    /// Any rate between a lowest and a highest.
    case range(Rational, Rational)

    /// The highest rate, if one is known.
    public var highest: Rational? {
        switch self {
        case .discrete(let rates): rates.max()
        case .range(_, let highest): highest
        }
    }

    /// Returns the rate that is nearest to the requested one; nil if none is known.
    public func nearest(to rate: Rational) -> Rational? {
        switch self {
        case .discrete(let rates):
            rates.min { abs($0.doubleValue - rate.doubleValue) < abs($1.doubleValue - rate.doubleValue) }
        case .range(let lowest, let highest): min(max(rate, lowest), highest)
        }
    }
}
