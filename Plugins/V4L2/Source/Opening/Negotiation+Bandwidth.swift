import InletCore
import InletV4L2

extension Negotiation {
    /// Returns a sentence about a mode that exceeds the bus's bandwidth: the bandwidth that it needs, the bandwidth of
    /// the bus, and a mode that would fit.
    ///
    /// - Parameters:
    ///   - byteCount: the number of bytes in one of the mode's pictures. For compressed pictures it is unknown.
    ///   - speed: the port's speed; nil if unknown.
    func bandwidthAdvice(for mode: V4L2CaptureMode, byteCount: Int, speed: USBSpeed?) -> String {
        let isCompressed = formats.first { $0.fourCC == mode.format }?.isCompressed ?? false
        let load = isCompressed ? nil : mode.rate.map { Double(byteCount) * $0.doubleValue }
        let limit = speed?.streamBytesPerSecond
        let needs = load.map { "\(mode) needs \(Self.megabytes($0)) MB/s" } ?? "\(mode) is too much for the bus"
        let carries =
            limit.flatMap { limit in
                speed.map {
                    ", and USB at \(Int($0.megabits)) Mbit/s carries at most \(Self.megabytes(limit)) MB/s for one camera"
                }
            } ?? ""
        var lighter = lighter(than: mode)
        // Within one format the number of bytes grows with the pixels; each step down is smaller than the previous
        // one.
        while let limit, let load, let found = lighter, found.format == mode.format {
            let pixels = Double(found.size.pixelCount) / Double(mode.size.pixelCount)
            let rates = (found.rate?.doubleValue ?? 0) / (mode.rate?.doubleValue ?? 1)
            guard load * pixels * rates > limit else { break }
            lighter = self.lighter(than: found)
        }
        return "\(needs)\(carries)." + (lighter.map { " \($0) would need less." } ?? "")
    }

    /// Returns megabytes, rounded to one decimal place.
    private static func megabytes(_ bytes: Double) -> Double { (bytes / 100_000).rounded() / 10 }
}
