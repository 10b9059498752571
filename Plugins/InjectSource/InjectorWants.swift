public import InletCore

/// What is useful to push: a producer that looks at this before it makes a picture saves the work for those that nobody
/// would see.
public struct InjectorWants: Sendable, Hashable {
    /// Whether a source reads the injector, is not paused, and the injector is not muted. What is pushed at other times
    /// is dropped, but for what the queue holds until a source comes.
    public var isActive = false
    /// What the sinks of the reader want together, within the limits of
    /// ``FrameInjector/adapt(maximumSize:maximumFrameRate:)``. Everything while there is no reader.
    public var demand = SourceDemand.everything
    /// How many key frames were requested since the injector was made, for a producer of packets: it makes one whenever
    /// the number has grown.
    public var keyFrameRequests = 0

    init() {}

    /// Returns the size in which a picture is best made: the picture's own, or the largest of the same shape within
    /// ``SourceDemand/largestSize``, with even sides.
    public func size(for picture: ImageSize) -> ImageSize {
        guard let largest = demand.largestSize, picture.isValid, largest.isValid, !picture.fits(in: largest) else {
            return picture
        }
        func even(_ side: Int) -> Int { max(2, side / 2 * 2) }
        // The side that is over by more decides; sides of at most 32,768 make no product too large.
        if picture.width * largest.height >= picture.height * largest.width {
            return ImageSize(width: even(largest.width), height: even(picture.height * largest.width / picture.width))
        }
        return ImageSize(width: even(picture.width * largest.height / picture.height), height: even(largest.height))
    }
}
