/// The properties that a sink wants its frames to have.
///
/// Pictures are filtered, cropped, scaled and rotated, in this order. A sink's sizes and aspect ratio apply to the
/// pictures that it gets: to the upright picture if it has the rotation applied, and otherwise to the picture as the
/// source stores it. Only the rectangle of ``Crop-swift.enum/exact(_:)`` is always in the pixels of the source's
/// picture. If a picture is stretched, its sample aspect ratio is adjusted, so that it is shown in its true shape. A
/// sink whose readers ignore that ratio sets ``squarePixels``.
///
/// Wants that cannot be fulfilled end the sink with ``InletError/Code/invalidConfiguration`` when its first frame
/// arrives.
public struct SinkWants: Sendable, Hashable {
    /// The part of the picture to deliver. The default is the whole picture.
    public var crop: Crop
    /// The exact size to which every frame is scaled, stretched if its shape differs. The default, nil, leaves the size
    /// unchanged.
    public var size: ImageSize?
    /// The size within which larger frames are scaled down, keeping their shape, to an even width and height. A frame
    /// that fits is unchanged. Not together with ``size``. The default, nil, means no limit.
    public var largestSize: ImageSize?
    /// Whether pixels are rotated upright. By default they are not.
    public var rotation: RotationHandling
    /// Whether pictures whose pixels are not square are stretched until they are: made wider if pixels are wide, and
    /// higher if they are narrow, then limited to ``largestSize``. Without effect if ``size`` is given. The default is
    /// false.
    public var squarePixels: Bool
    /// The most frames a second, evenly spaced. The default, nil, delivers all.
    public var maximumFrameRate: Rational?
    /// The filters for pictures that they would change. The default is the empty set.
    ///
    /// An interlaced picture is deinterlaced with lines of the pictures around it, and so delivered when the next one
    /// has arrived. Pictures that come less than ten times a second are deinterlaced separately.
    public var filters: PictureFilters = []

    /// A part of a picture.
    public enum Crop: Sendable, Hashable {
        /// The whole picture.
        case none
        /// The largest centred part that has this shape when it is shown: width over height, with the sample aspect
        /// ratio taken into account. Its edges fall on even pixels, so the shape is met to two pixels.
        case center(Rational)
        /// This part of the source's picture. It begins at an even column and row, where chroma samples do.
        ///
        /// A frame in which it does not fit, after the source changed its size, is dropped and counted as
        /// ``DropReason/outsidePicture``; if it does not fit the first frame, the sink ends.
        case exact(ImageRect)
    }

    /// How to handle a picture that is not stored upright.
    public enum RotationHandling: String, Sendable, Hashable, CaseIterable {
        /// The pixels are unchanged, and ``VideoFrame/rotation`` is the rotation to apply. Costs nothing.
        case metadata
        /// The pixels are rotated upright, and ``VideoFrame/rotation`` is ``Rotation/none``.
        case applied
    }

    public init(
        crop: Crop = .none, size: ImageSize? = nil, largestSize: ImageSize? = nil,
        rotation: RotationHandling = .metadata, squarePixels: Bool = false, maximumFrameRate: Rational? = nil
    ) {
        self.crop = crop
        self.size = size
        self.largestSize = largestSize
        self.rotation = rotation
        self.squarePixels = squarePixels
        self.maximumFrameRate = maximumFrameRate
    }

    /// Checks what can be checked without a picture.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for sizes, rates and aspect ratios that are impossible, a
    ///   rectangle that is empty or begins at an odd pixel, and if both ``size`` and ``largestSize`` are given.
    public func validate() throws(InletError) {
        for size in [size, largestSize] {
            guard let size, !size.isValid else { continue }
            throw Self.error("A sink cannot want pictures of \(size) pixels.")
        }
        if size != nil, largestSize != nil {
            throw Self.error("A sink wants an exact size or a largest size, not both. Leave one out.")
        }
        // One frame in 31 years is the lowest rate: multiples of the interval in any time base stay within 64 bits.
        if let maximumFrameRate, maximumFrameRate < Rational(1, 1_000_000_000) {
            throw Self.error("A sink cannot want \(maximumFrameRate) frames a second.")
        }
        switch crop {
        case .none: break
        case .center(let shape):
            guard shape > Rational(0), Rational(exactly: shape.numerator, over: shape.denominator) != nil else {
                throw Self.error("A picture cannot be cut to an aspect ratio of \(shape).")
            }
        case .exact(let rect):
            guard rect.startsOnChroma else {
                throw Self.error(
                    "The part \(rect) begins at an odd pixel, in the middle of a chroma sample. Use even numbers.")
            }
            guard rect.x >= 0, rect.y >= 0, rect.size.isValid else {
                throw Self.error("A part \(rect) of a picture cannot exist.")
            }
        }
    }

    private static func error(_ message: String) -> InletError { InletError(.invalidConfiguration, message) }
}
