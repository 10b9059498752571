import InletCore
import InletV4L2

/// Chooses a mode of a camera from its formats and the request. Pure: all inputs are passed in.
///
/// A request is fulfilled or rejected. Without one, the highest rate near 1280x720 wins, then the size nearest to it,
/// then the format that is cheapest to convert. A cheap format that halves the rate thus loses to MJPEG.
struct Negotiation: Sendable {
    /// The user's request; nil properties mean the best available.
    struct Request: Sendable, Hashable {
        var size: ImageSize?
        var rate: Rational?
        var format: FourCC?
    }

    /// The formats that the camera offers.
    var formats: [V4L2FormatInfo]
    /// Returns the rates at one of a range of sizes, which the enumeration does not list.
    var rates: @Sendable (FourCC, ImageSize) -> V4L2FrameRates

    static let usualSize = ImageSize(width: 1280, height: 720)
    /// Drivers that list no sizes are asked for any size, and answer with their own.
    private static let anySize = V4L2FrameSizes(
        least: ImageSize(width: 16, height: 16), greatest: ImageSize(width: 8192, height: 8192),
        step: ImageSize(width: 1, height: 1), rates: .discrete([]))

    /// - Throws: ``InletError/Code/unsupported``, naming the nearest available mode.
    func choose(_ request: Request) throws(InletError) -> V4L2CaptureMode {
        let readable = formats.filter { CaptureLayout.table[$0.fourCC] != nil }
        guard !readable.isEmpty else {
            let names = formats.map { "\($0.fourCC) (\($0.summary))" }.joined(separator: ", ")
            throw InletError(
                .unsupported,
                formats.isEmpty
                    ? "The device offers no pixel format. Check that an input is connected."
                    : "The device offers only unsupported formats: \(names).")
        }
        var wanted = readable
        if let format = request.format {
            wanted = readable.filter { $0.fourCC == format }
            guard !wanted.isEmpty else {
                let names = readable.map(\.fourCC.description)
                let isOffered = formats.contains { $0.fourCC == format }
                let nearest =
                    Spelling.nearest(to: format.description, among: names).map { " Did you mean \($0)?" } ?? ""
                throw InletError(
                    .unsupported,
                    """
                    \(isOffered ? "The camera's format \(format) is not supported" : "The camera has no format \(format)").\(nearest) \
                    Its formats are \(names.joined(separator: ", ")).
                    """)
            }
        }
        let candidates = wanted.flatMap { modes(of: $0, request) }
        guard let best = best(of: candidates, request) else { throw refusal(request, wanted) }
        return best
    }

    /// Returns a mode that needs less bandwidth: compressed if the mode is not, otherwise smaller, otherwise slower;
    /// nil if no such mode exists.
    func lighter(than mode: V4L2CaptureMode) -> V4L2CaptureMode? {
        let all = formats.filter { CaptureLayout.table[$0.fourCC] != nil }.flatMap { modes(of: $0, Request()) }
        let isCompressed = formats.first { $0.fourCC == mode.format }?.isCompressed ?? false
        func rate(_ mode: V4L2CaptureMode) -> Double { mode.rate?.doubleValue ?? 0 }
        if !isCompressed {
            let compressed = formats.filter(\.isCompressed).map(\.fourCC)
            let same = all.filter { compressed.contains($0.format) && $0.size.fits(in: mode.size) }
            if let found = same.max(by: { ($0.size.pixelCount, rate($0)) < ($1.size.pixelCount, rate($1)) }) {
                return found
            }
        }
        return all.filter { $0.format == mode.format && $0.size.pixelCount < mode.size.pixelCount }
            .max { ($0.size.pixelCount, rate($0)) < ($1.size.pixelCount, rate($1)) }
    }

    /// Returns the modes of a format that fit the request: every discrete size, and from a range of sizes the
    /// requested one.
    private func modes(of info: V4L2FormatInfo, _ request: Request) -> [V4L2CaptureMode] {
        (info.sizes.isEmpty ? [Self.anySize] : info.sizes).compactMap { sizes in
            let size = sizes.nearest(to: request.size ?? Self.usualSize)
            if let wanted = request.size, size != wanted { return nil }
            let rates = sizes.step == nil ? sizes.rates : rates(info.fourCC, size)
            guard let wanted = request.rate else {
                return V4L2CaptureMode(format: info.fourCC, size: size, rate: rates.highest)
            }
            // A driver that lists no rates is asked for the requested one, and its answer is checked.
            guard let nearest = rates.nearest(to: wanted) else {
                return V4L2CaptureMode(format: info.fourCC, size: size, rate: wanted)
            }
            guard Self.areAlike(nearest, wanted) else { return nil }
            return V4L2CaptureMode(format: info.fourCC, size: size, rate: nearest)
        }
    }

    /// Returns whether two rates are practically equal: users write 30 for 30000/1001.
    static func areAlike(_ left: Rational, _ right: Rational) -> Bool {
        abs(left.doubleValue - right.doubleValue) <= 0.01 * max(left.doubleValue, right.doubleValue)
    }

    private func best(of candidates: [V4L2CaptureMode], _ request: Request) -> V4L2CaptureMode? {
        let target = request.size ?? Self.usualSize
        let distances = candidates.map { $0.size.distance(to: target) }
        guard let nearest = distances.min() else { return nil }
        // Sizes with half to twice as many pixels count as near.
        let near = zip(candidates, distances).filter { $0.1 <= max(1, nearest) }
        let rates = near.map { $0.0.rate?.doubleValue ?? 0 }
        let highest = rates.max() ?? 0
        let fast = near.filter { ($0.0.rate?.doubleValue ?? 0) >= 0.9 * highest }
        return fast.min {
            ($0.1, CaptureLayout.cost(of: $0.0.format) ?? .max) < ($1.1, CaptureLayout.cost(of: $1.0.format) ?? .max)
        }?.0
    }

    private func refusal(_ request: Request, _ formats: [V4L2FormatInfo]) -> InletError {
        var wanted: [String] = []
        if let size = request.size { wanted.append("\(size)") }
        if let rate = request.rate { wanted.append("\(rate) fps") }
        if let format = request.format { wanted.append("format \(format)") }
        // Every size with its nearest rate.
        let all = formats.flatMap { info in
            (info.sizes.isEmpty ? [Self.anySize] : info.sizes).map { sizes in
                let size = sizes.nearest(to: request.size ?? Self.usualSize)
                let rates = sizes.step == nil ? sizes.rates : rates(info.fourCC, size)
                let rate = request.rate.map { rates.nearest(to: $0) } ?? rates.highest
                return V4L2CaptureMode(format: info.fourCC, size: size, rate: rate)
            }
        }
        func distance(_ mode: V4L2CaptureMode) -> (Double, Double, Int) {
            let rate = request.rate.map { abs(($0.doubleValue - (mode.rate?.doubleValue ?? 0)) / $0.doubleValue) } ?? 0
            return (
                mode.size.distance(to: request.size ?? Self.usualSize), rate,
                CaptureLayout.cost(of: mode.format) ?? .max
            )
        }
        let nearest = all.min { distance($0) < distance($1) }
        return InletError(
            .unsupported,
            """
            The camera has no mode with \(wanted.joined(separator: ", ")). \
            \(nearest.map { "The nearest is \($0). " } ?? "")`inlet devices` lists them all.
            """)
    }
}

extension ImageSize {
    /// Returns how often the number of pixels must be doubled or halved. A different aspect ratio adds to this.
    fileprivate func distance(to other: ImageSize) -> Double {
        guard isValid, other.isValid else { return .infinity }
        return abs(Self.log2(Double(width) / Double(other.width)))
            + abs(Self.log2(Double(height) / Double(other.height)))
    }

    /// Returns the binary logarithm, accurate to about a thousandth, without a C library.
    private static func log2(_ value: Double) -> Double {
        var mantissa = value.significand
        var result = Double(value.exponent)
        var bit = 0.5
        for _ in 0..<12 {
            mantissa *= mantissa
            if mantissa >= 2 {
                mantissa /= 2
                result += bit
            }
            bit /= 2
        }
        return result
    }
}
