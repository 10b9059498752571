import InletCore

/// The meaning of one sink's wants for one picture: the filters, the part, the size, the rotation.
///
/// Pure arithmetic, done for every frame, since a source may change size, rotation and pixel shape at any frame.
struct FrameAdaptation: Sendable, Hashable {
    /// The part of the source's picture; nil for all of it.
    let crop: ImageRect?
    /// The size after scaling, before the rotation.
    let size: ImageSize
    /// How far to rotate the pixels.
    let turn: Rotation
    /// Whether scaling makes the pixels square.
    let makesSquare: Bool
    /// The filters before all that.
    var filters: PictureFilters = []

    /// The same adaptation without the rotation.
    var unturned: FrameAdaptation {
        var adaptation = FrameAdaptation(crop: crop, size: size, turn: .none, makesSquare: makesSquare)
        adaptation.filters = filters
        return adaptation
    }

    private init(crop: ImageRect?, size: ImageSize, turn: Rotation, makesSquare: Bool = false) {
        self.crop = crop
        self.size = size
        self.turn = turn
        self.makesSquare = makesSquare
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` if the wants cannot be fulfilled for this picture, and for
    ///   any picture if ``SinkWants/validate()`` throws.
    init(_ wants: SinkWants, to picture: PictureShape) throws(InletError) {
        try wants.validate()
        guard picture.size.isValid else {
            // Not the sink's fault; the conversion reports what is wrong with the frame.
            self.init(crop: nil, size: picture.size, turn: .none)
            return
        }
        let turn = wants.rotation == .applied ? picture.rotation : .none
        let swaps = turn.swapsDimensions
        let crop: ImageRect? =
            switch wants.crop {
            case .none: nil
            case .exact(let rect): try Self.checked(rect, in: picture.size)
            case .center(let shape): Self.center(of: picture, shape: swaps ? shape.reciprocal ?? shape : shape)
            }
        var size = crop?.size ?? picture.size
        if let exact = wants.size {
            size = swaps ? exact.transposed : exact
            self.init(crop: crop, size: size, turn: turn)
            return
        }
        let makesSquare = wants.squarePixels && picture.knownPixelShape != Rational(1)
        if makesSquare { size = size.squared(picture.knownPixelShape) }
        if let largest = wants.largestSize { size = size.fitted(within: swaps ? largest.transposed : largest) }
        self.init(crop: crop, size: size, turn: turn, makesSquare: makesSquare)
    }

    /// Whether the picture is delivered at its own size and orientation.
    func isIdentity(for picture: PictureShape) -> Bool { crop == nil && size == picture.size && turn == .none }

    /// Returns the width of a pixel over its height after the adaptation, or nil if it is unknown or no longer fits in
    /// 32 bits.
    func sampleAspectRatio(of picture: PictureShape) -> Rational? {
        // To the pixel: a width or height is rounded.
        if makesSquare { return Rational(1) }
        let cut = crop?.size ?? picture.size
        guard let ratio = picture.sampleAspectRatio, size != cut || turn.swapsDimensions else {
            return picture.sampleAspectRatio
        }
        let stretched = ratio.stretched(from: cut, to: size)
        return turn.swapsDimensions ? stretched?.reciprocal : stretched
    }

    /// Returns how the rows were taken after the adaptation. Scaling and quarter turns mix the fields.
    func fieldOrder(_ order: FieldOrder, of picture: PictureShape) -> FieldOrder {
        if filters.contains(.deinterlacing) { return .progressive }
        let height = crop?.size.height ?? picture.size.height
        guard size.height == height, !turn.swapsDimensions else { return .progressive }
        // Upside down, an odd number of rows begins with a row of the same field.
        return turn == .clockwise180 && height.isMultiple(of: 2) ? order.flipped : order
    }

    private static func checked(_ rect: ImageRect, in size: ImageSize) throws(InletError) -> ImageRect? {
        guard rect.lies(in: size) else {
            throw InletError(
                .invalidConfiguration,
                "The part \(rect) does not lie within the source's pictures of \(size). Choose a smaller one.")
        }
        return rect.size == size ? nil : rect
    }

    /// Returns the largest centred part of this shape; nil if that is the whole picture.
    private static func center(of picture: PictureShape, shape: Rational) -> ImageRect? {
        let size = picture.size
        let pixel = picture.knownPixelShape
        // Width over height in pixels is shape over pixel shape. Products of 32-bit numbers and a size stay within 128
        // bits.
        let across = Int128(shape.numerator) * Int128(pixel.denominator)
        let down = Int128(shape.denominator) * Int128(pixel.numerator)
        let difference = Int128(size.width) * down - Int128(size.height) * across
        if difference == 0 { return nil }
        var cut = size
        if difference > 0 {
            cut.width = Int(clamping: Int128(size.height) * across / down).even(upTo: size.width)
        } else {
            cut.height = Int(clamping: Int128(size.width) * down / across).even(upTo: size.height)
        }
        return ImageRect(x: (size.width - cut.width) / 2 & ~1, y: (size.height - cut.height) / 2 & ~1, size: cut)
    }
}

extension ImageSize {
    /// Returns the size of the same picture with square pixels: one side as it is, the other larger and even. A picture
    /// that would be larger than any may be is made smaller. The size is valid, the pixel shape above zero.
    fileprivate func squared(_ pixel: Rational) -> ImageSize {
        // Two sizes within 2^16 and two numbers within 2^32 stay within 128 bits.
        let (across, down) = (Int128(pixel.numerator), Int128(pixel.denominator))
        let most = Int128(Self.maximumDimension)
        func stretched(_ side: Int, _ by: Int128, over: Int128) -> Int128 {
            (Int128(side) * by + over) / (2 * over) * 2
        }
        let isWide = across > down
        let (kept, other) = isWide ? (height, width) : (width, height)
        var (long, short) = (
            isWide ? stretched(other, across, over: down) : stretched(other, down, over: across), Int128(kept)
        )
        if long > most { (long, short) = (most, max(1, short * most / long)) }
        return isWide
            ? ImageSize(width: Int(clamping: long), height: Int(clamping: short))
            : ImageSize(width: Int(clamping: short), height: Int(clamping: long))
    }

    /// Returns the largest even size of the same shape within `largest`, rounded down as FFmpeg's scale filter does;
    /// the same size if it fits. Both are valid.
    fileprivate func fitted(within largest: ImageSize) -> ImageSize {
        guard !fits(in: largest) else { return self }
        let byHeight = (2 * largest.height * width + height) / (2 * height)
        let byWidth = (2 * largest.width * height + width) / (2 * width)
        return ImageSize(
            width: min(byHeight, largest.width).even(upTo: largest.width),
            height: min(byWidth, largest.height).even(upTo: largest.height))
    }
}

extension Int {
    /// Returns the even number at or below this one, from 2 to `most`; `most` itself if that is 1.
    fileprivate func even(upTo most: Int) -> Int { Swift.min(most, Swift.max(2, self & ~1)) }
}

extension Rational {
    /// Returns a pixel aspect ratio after a picture was stretched, or nil if it no longer fits in 32 bits.
    fileprivate func stretched(from: ImageSize, to: ImageSize) -> Rational? {
        let (width, overflow) = numerator.multipliedReportingOverflow(by: from.width * to.height)
        let (height, overflowed) = denominator.multipliedReportingOverflow(by: from.height * to.width)
        guard !overflow, !overflowed, height != 0 else { return nil }
        let ratio = Rational(width, height)
        return Rational(exactly: ratio.numerator, over: ratio.denominator)
    }
}
