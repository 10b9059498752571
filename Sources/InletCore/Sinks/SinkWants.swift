/// What a sink would like its frames to be.
///
/// Pictures are cut, then scaled, then turned. What a sink says of sizes and of an aspect ratio is said of the pictures
/// that it gets: where it has the rotation applied, of the upright picture; otherwise of the picture as the source
/// stores it, before any rotation. The rectangle of ``Crop-swift.enum/exact(_:)`` alone is always in the pixels of the
/// source's picture. Where a picture is stretched, its sample aspect ratio follows, so that it is still shown in its
/// true shape.
///
/// Wants that cannot be fulfilled end the sink with ``InletError/Code/invalidConfiguration`` when its first frame
/// comes.
public struct SinkWants: Sendable, Hashable {
    /// Which part of the picture to deliver. The default is all of it.
    public var crop: Crop
    /// Scale every frame to exactly this size, stretched where its shape is another. The default, nil, leaves the size
    /// as it is.
    public var size: ImageSize?
    /// Scale frames that are larger down until they fit within this size, keeping their shape, to an even width and
    /// height. One that fits is left as it is. Not together with ``size``. The default, nil, is no limit.
    public var largestSize: ImageSize?
    /// Whether pixels are turned upright. The default is that they are not.
    public var rotation: RotationHandling
    /// Deliver at most this many frames a second, evenly spaced. The default, nil, delivers all.
    public var maximumFrameRate: Rational?

    /// A part of a picture.
    public enum Crop: Sendable, Hashable {
        /// All of it.
        case none
        /// The largest part in the middle that has this shape when it is shown: width over height, with the sample
        /// aspect ratio counted. Its edges fall on even pixels, so the shape is met to two pixels.
        case center(Rational)
        /// This part of the source's picture. It begins at an even column and row, where chroma samples do.
        ///
        /// A frame in which it does not fit, after the source changed its size, is dropped and counted as
        /// ``DropReason/outsidePicture``; where it does not fit the first frame, the sink ends.
        case exact(ImageRect)
    }

    /// What becomes of a picture that is not stored upright.
    public enum RotationHandling: String, Sendable, Hashable, CaseIterable {
        /// The pixels stay, and ``VideoFrame/rotation`` says how far to turn them. Costs nothing.
        case metadata
        /// The pixels are turned upright, and ``VideoFrame/rotation`` is ``Rotation/none``.
        case applied
    }

    public init(
        crop: Crop = .none, size: ImageSize? = nil, largestSize: ImageSize? = nil,
        rotation: RotationHandling = .metadata, maximumFrameRate: Rational? = nil
    ) {
        self.crop = crop
        self.size = size
        self.largestSize = largestSize
        self.rotation = rotation
        self.maximumFrameRate = maximumFrameRate
    }

    /// Checks what can be checked without a picture.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for sizes, rates and aspect ratios that cannot be, a
    ///   rectangle that is empty or begins at an odd pixel, and where both ``size`` and ``largestSize`` are given.
    public func validate() throws(InletError) {
        for size in [size, largestSize] {
            guard let size, !size.isValid else { continue }
            throw Self.error("A sink cannot want pictures of \(size) pixels.")
        }
        if size != nil, largestSize != nil {
            throw Self.error("A sink wants an exact size or a largest size, not both. Leave one out.")
        }
        // One in 31 years is the least: multiples of the interval in any time base stay within 64 bits.
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
