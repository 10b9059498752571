public import InletCore

/// The items that are useful to push: a producer that checks this before it makes a picture saves the work for unused
/// ones.
public struct InjectorWants: Sendable, Hashable {
    /// Whether a source reads the injector and is not paused, and the injector is not muted. Other pushes are dropped,
    /// except those that the queue holds until a source comes.
    public var isActive = false
    /// The combined demand of the reader's sinks, within the limits of
    /// ``FrameInjector/adapt(maximumSize:maximumFrameRate:)``. Full demand without a reader.
    public var demand = SourceDemand.everything
    /// How many key frames were requested since the injector was made, for a producer of packets: it makes one whenever
    /// the number has grown.
    public var keyFrameRequests = 0

    init() {}

    /// Returns the best size for making a picture: the picture's own, or the largest of the same shape within
    /// ``SourceDemand/largestSize``, with even sides.
    public func size(for picture: ImageSize) -> ImageSize {
        guard let largest = demand.largestSize, picture.isValid, largest.isValid, !picture.fits(in: largest) else {
            return picture
        }
        func even(_ side: Int) -> Int { max(2, side / 2 * 2) }
        // The side that exceeds its limit more decides; sides of at most 32,768 make no product too large.
        if picture.width * largest.height >= picture.height * largest.width {
            return ImageSize(width: even(largest.width), height: even(picture.height * largest.width / picture.width))
        }
        return ImageSize(width: even(picture.width * largest.height / picture.height), height: even(largest.height))
    }
}
