package import InletCore

/// The size and frame rate of pictures at a bit rate: with fewer bits they become smaller and rarer before they break
/// up.
///
/// ``steps`` descend from the full picture. Each holds down to a number of bits per pixel, ``fewestBitsPerPixel``;
/// below that the next one looks better. A step up needs slightly more than the floor of the step, so that a rate close
/// to the limit does not switch back and forth. The steps are divided among tiers, each of which is the range of one
/// encoding.
package struct PictureLadder: Sendable, Hashable {
    /// A size and a frame rate, as fractions of the full ones.
    package struct Step: Sendable, Hashable {
        /// The quarters of the width and of the height.
        package var quarters: Int
        /// The divisor of the frame rate.
        package var pictures: Int

        /// Returns the size of the step's pictures, in even numbers; the full size is returned unchanged.
        package func size(of full: ImageSize) -> ImageSize {
            guard quarters < 4 else { return full }
            func part(_ length: Int) -> Int { max(2, (length * quarters / 4) & ~1) }
            return ImageSize(width: part(full.width), height: part(full.height))
        }
    }

    /// The full picture, three quarters of its width and height, a half, and a quarter; the last two also with half of
    /// the pictures.
    package static let allSteps = [
        Step(quarters: 4, pictures: 1), Step(quarters: 3, pictures: 1), Step(quarters: 2, pictures: 1),
        Step(quarters: 2, pictures: 2), Step(quarters: 1, pictures: 1), Step(quarters: 1, pictures: 2),
    ]

    /// The fewest bits per pixel, for H.264 as used in calls. Below this a camera's picture shows blocks; measured with
    /// libx264's fastest preset at 720p.
    package static let fewestBitsPerPixel = 0.035
    /// The ratio of a rate to a step's floor that permits a step up.
    private static let margin = 1.2
    /// The smallest height to which a step down reduces pictures.
    private static let smallestHeight = 90
    private static let fewestPicturesPerSecond = 7.0

    /// The steps that the picture is large enough for, from the largest down. Not empty.
    package let steps: [Step]
    /// The maximum number of concurrent encodings for each codec.
    package let tiers: Int
    private let floors: [Int]
    private let firstSteps: [Int]

    /// - Parameters:
    ///   - size: the size of the source's pictures.
    ///   - frameRate: the source's frame rate; 30 if it is unknown.
    ///   - tiers: from 1 to 3. There may be fewer if pictures are small.
    package init(size: ImageSize, frameRate: Rational?, tiers: Int) {
        let rate = frameRate?.doubleValue ?? 30
        let steps = Self.allSteps.filter { step in
            step == Self.allSteps[0]
                || step.size(of: size).height >= Self.smallestHeight
                    && (step.pictures == 1 || rate / Double(step.pictures) >= Self.fewestPicturesPerSecond)
        }
        self.steps = steps
        floors = steps.map { step in
            let size = step.size(of: size)
            let pixels = Double(size.width) * Double(size.height) * rate / Double(step.pictures)
            return Int(min(1e9, pixels * Self.fewestBitsPerPixel))
        }
        // A tier begins at the full, the half and the quarter size.
        let starts = [4, 2, 1].prefix(max(1, tiers)).compactMap { quarters in
            steps.firstIndex { $0.quarters == quarters }
        }
        firstSteps = starts
        self.tiers = starts.count
    }

    /// Returns the tier that a step belongs to, from 0, the largest.
    package func tier(of step: Int) -> Int { (firstSteps.lastIndex { $0 <= step }) ?? 0 }

    /// Returns the steps of a tier.
    package func steps(of tier: Int) -> Range<Int> {
        let first = firstSteps[min(max(0, tier), tiers - 1)]
        return first..<(tier + 1 < tiers ? firstSteps[tier + 1] : steps.count)
    }

    /// Returns the bits a second down to which a step is held; 0 for the last.
    package func floor(of step: Int) -> Int { step + 1 < steps.count ? floors[step] : 0 }

    /// Returns the highest bit rate that is worth sending on a smaller tier: more would not be visible at its size.
    package func ceiling(of tier: Int) -> Int { floors[steps(of: tier).lowerBound] * 5 }

    /// Returns the step for a bit rate.
    ///
    /// - Parameters:
    ///   - bitrate: bits a second.
    ///   - current: the current step; nil before the first.
    ///   - range: the steps to choose from. The default is all.
    package func step(for bitrate: Int, from current: Int? = nil, in range: Range<Int>? = nil) -> Int {
        let range = range ?? steps.indices
        for step in range {
            let isUp = current.map { step < $0 } ?? false
            if Double(bitrate) >= Double(floor(of: step)) * (isUp ? Self.margin : 1) { return step }
        }
        return range.upperBound - 1
    }
}
