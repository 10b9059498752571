package import InletCore

extension ImageSize {
    /// How many pixels a decoder may be asked for to give a picture of this size, for
    /// ``FFmpegDecoder/Options/maximumPixels``: decoders make pictures of whole blocks, at most 64 pixels wide and
    /// high, and cut them afterwards.
    package var decodedPixelCount: Int {
        func blocks(_ length: Int) -> Int { length.adding(saturating: 63) / 64 * 64 }
        return ImageSize(width: blocks(width), height: blocks(height)).pixelCount
    }
}
