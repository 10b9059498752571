package import InletCore

extension ImageSize {
    /// The number of pixels that a decoder needs for a picture of this size, for
    /// ``FFmpegDecoder/Options/maximumPixels``: decoders produce whole blocks, at most 64 pixels wide and high, and
    /// crop them afterwards.
    package var decodedPixelCount: Int {
        func blocks(_ length: Int) -> Int { length.adding(saturating: 63) / 64 * 64 }
        return ImageSize(width: blocks(width), height: blocks(height)).pixelCount
    }
}
