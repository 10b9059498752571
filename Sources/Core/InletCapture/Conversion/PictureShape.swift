import InletCore

/// The shape of a picture as its source stores it.
struct PictureShape: Sendable, Hashable {
    var size: ImageSize
    var rotation = Rotation.none
    var sampleAspectRatio: Rational?

    /// The width of a pixel over its height; square if it is unknown or implausible.
    var knownPixelShape: Rational {
        guard let ratio = sampleAspectRatio, ratio > Rational(0),
            let checked = Rational(exactly: ratio.numerator, over: ratio.denominator)
        else { return Rational(1) }
        return checked
    }
}
