import InletCore

/// The properties of a frame that determine a sink's format.
struct FrameShape {
    var size: ImageSize
    var timeBase: Rational?
    var colorSpace: ColorSpace
    var rotation: Rotation
    var sampleAspectRatio: Rational?
    var fieldOrder: FieldOrder
}

extension VideoFrame {
    /// The properties of the frame that determine a sink's format.
    var frameShape: FrameShape {
        FrameShape(
            size: size, timeBase: pts?.timeBase, colorSpace: colorSpace, rotation: rotation,
            sampleAspectRatio: sampleAspectRatio, fieldOrder: fieldOrder)
    }
}

extension VideoFormat {
    /// The format of a sink's first frame.
    init(_ frame: FrameShape, of source: SourceFormat?, wants: SinkWants) {
        var rate = source?.frameRate
        if let most = wants.maximumFrameRate { rate = rate.map { min($0, most) } ?? most }
        self.init(
            size: frame.size, timeBase: frame.timeBase ?? source?.timeBase ?? Rational(1, 1_000_000_000),
            frameRate: rate, colorSpace: frame.colorSpace, rotation: frame.rotation,
            sampleAspectRatio: frame.sampleAspectRatio)
        fieldOrder = frame.fieldOrder
    }
}
