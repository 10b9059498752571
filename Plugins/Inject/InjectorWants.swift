public import InletCore

/// The items that are useful to push. A producer that checks this before making a picture saves the work for unused
/// ones.
public struct InjectorWants: Sendable, Hashable {
    /// Whether a source reads the injector and is not paused, and the injector is not muted. Otherwise pushes are
    /// dropped, except those that the queue holds until a source comes.
    public var isActive = false
    /// The combined demand of the reader's sinks, within the limits of
    /// ``FrameInjector/adapt(maximumSize:maximumFrameRate:)``. Without a reader, the full demand.
    public var demand = SourceDemand.everything
    /// The number of key frames requested since the injector was created. A producer of packets makes a key frame
    /// whenever the number has grown.
    public var keyFrameRequests = 0

    init() {}

    /// Returns the best size for making a picture: the picture's own, or the largest size of the same shape within
    /// ``SourceDemand/largestSize``, with even sides.
    public func size(for picture: ImageSize) -> ImageSize {
        guard let largest = demand.largestSize, picture.isValid, largest.isValid, !picture.fits(in: largest) else {
            return picture
        }
        func even(_ side: Int) -> Int { max(2, side / 2 * 2) }
        // The side that exceeds its limit more decides. Sides are at most 32,768, so the products do not overflow.
        if picture.width * largest.height >= picture.height * largest.width {
            return ImageSize(width: even(largest.width), height: even(picture.height * largest.width / picture.width))
        }
        return ImageSize(width: even(picture.width * largest.height / picture.height), height: even(largest.height))
    }
}
