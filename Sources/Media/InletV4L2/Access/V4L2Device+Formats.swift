package import CV4L2
package import InletCore

// Unsafe: passes structs to the calls that read and set formats.
extension V4L2Device {
    /// The maximum entries that a driver may enumerate: a broken one never ends.
    private static var mostEntries: UInt32 { 512 }

    /// Returns every format with its sizes and rates, as the driver enumerates them.
    package func formats(type: UInt32) -> [V4L2FormatInfo] {
        var formats: [V4L2FormatInfo] = []
        for index in 0..<Self.mostEntries {
            var entry = v4l2_fmtdesc()
            entry.index = index
            entry.type = type
            guard unsafe call(inlet_VIDIOC_ENUM_FMT, &entry) == 0 else { break }
            let code = FourCC(rawValue: entry.pixelformat)
            let summary = unsafe Self.text(&entry.description, MemoryLayout.size(ofValue: entry.description))
            formats.append(
                V4L2FormatInfo(
                    fourCC: code, summary: summary, isCompressed: entry.flags & UInt32(V4L2_FMT_FLAG_COMPRESSED) != 0,
                    isEmulated: entry.flags & UInt32(V4L2_FMT_FLAG_EMULATED) != 0, sizes: sizes(of: code)))
        }
        return formats
    }

    private func sizes(of code: FourCC) -> [V4L2FrameSizes] {
        var sizes: [V4L2FrameSizes] = []
        for index in 0..<Self.mostEntries {
            var entry = v4l2_frmsizeenum()
            entry.index = index
            entry.pixel_format = code.rawValue
            guard unsafe call(inlet_VIDIOC_ENUM_FRAMESIZES, &entry) == 0 else { break }
            if entry.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
                let size = ImageSize(width: Int(entry.discrete.width), height: Int(entry.discrete.height))
                sizes.append(V4L2FrameSizes(least: size, greatest: size, step: nil, rates: rates(of: code, at: size)))
                continue
            }
            let range = entry.stepwise
            var found = V4L2FrameSizes(
                least: ImageSize(width: Int(range.min_width), height: Int(range.min_height)),
                greatest: ImageSize(width: Int(range.max_width), height: Int(range.max_height)),
                step: ImageSize(width: max(1, Int(range.step_width)), height: max(1, Int(range.step_height))),
                rates: .discrete([]))
            found.rates = rates(of: code, at: found.nearest(to: ImageSize(width: 1280, height: 720)))
            return [found]
        }
        return sizes
    }

    /// Returns the rates of a format at a size, the highest first.
    package func rates(of code: FourCC, at size: ImageSize) -> V4L2FrameRates {
        var rates: [Rational] = []
        for index in 0..<Self.mostEntries {
            var entry = v4l2_frmivalenum()
            entry.index = index
            entry.pixel_format = code.rawValue
            entry.width = UInt32(clamping: size.width)
            entry.height = UInt32(clamping: size.height)
            guard unsafe call(inlet_VIDIOC_ENUM_FRAMEINTERVALS, &entry) == 0 else { break }
            if entry.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue {
                if let rate = Rational(rateOf: entry.discrete) { rates.append(rate) }
                continue
            }
            guard let highest = Rational(rateOf: entry.stepwise.min), let lowest = Rational(rateOf: entry.stepwise.max)
            else { break }
            return .range(min(lowest, highest), max(lowest, highest))
        }
        return .discrete(Set(rates).sorted(by: >))
    }

    /// Returns the current format.
    package func format(type: UInt32) throws(InletError) -> inlet_v4l2_format {
        var format = inlet_v4l2_format()
        try check(unsafe inlet_v4l2_get_format(descriptor, type, &format), "VIDIOC_G_FMT")
        return format
    }

    /// Sets a format and returns the format that the driver chose.
    package func setFormat(_ format: inlet_v4l2_format, type: UInt32) throws(InletError) -> inlet_v4l2_format {
        var format = format
        try check(unsafe inlet_v4l2_set_format(descriptor, type, &format), "VIDIOC_S_FMT")
        return format
    }

    /// Returns the current frame rate; nil if the driver has none.
    package func frameRate(type: UInt32) -> Rational? {
        var interval = v4l2_fract()
        var capability: UInt32 = 0
        guard unsafe inlet_v4l2_get_interval(descriptor, type, &interval, &capability) == 0 else { return nil }
        return Rational(rateOf: interval)
    }

    /// Requests a frame rate.
    ///
    /// - Returns: the rate that the driver chose; nil if it cannot set rates.
    /// - Throws: any error other than that rates cannot be set.
    package func setFrameRate(_ rate: Rational, type: UInt32) throws(InletError) -> Rational? {
        var interval = v4l2_fract(
            numerator: UInt32(clamping: rate.denominator), denominator: UInt32(clamping: rate.numerator))
        let failure = unsafe inlet_v4l2_set_interval(descriptor, type, &interval)
        if failure == ENOTTY || failure == EINVAL { return nil }
        try check(failure, "VIDIOC_S_PARM")
        return Rational(rateOf: interval)
    }
}

extension Rational {
    /// Creates a frame rate from a frame's interval; nil for zero or absurd numbers.
    package init?(rateOf interval: v4l2_fract) {
        guard interval.numerator > 0, interval.denominator > 0 else { return nil }
        self.init(exactly: Int(interval.denominator), over: Int(interval.numerator))
    }
}
