package import InletCore

/// Which size and frame rate pictures have at a bit rate: with fewer bits they become smaller and rarer before they
/// fall apart.
///
/// ``steps`` go down from the full picture. Each holds down to so many bits for each pixel, ``fewestBitsPerPixel``;
/// below that the next one looks better. A step up takes a little more than what held there, so that a rate on the edge
/// does not go to and fro. The steps are shared out to tiers: what one encoding may do.
package struct PictureLadder: Sendable, Hashable {
    /// A size and a frame rate, as parts of the full ones.
    package struct Step: Sendable, Hashable {
        /// Quarters of the width and of the height.
        package var quarters: Int
        /// One picture of so many is sent.
        package var pictures: Int

        /// The size of its pictures, in even numbers; the full size as it is.
        package func size(of full: ImageSize) -> ImageSize {
            guard quarters < 4 else { return full }
            func part(_ length: Int) -> Int { max(2, (length * quarters / 4) & ~1) }
            return ImageSize(width: part(full.width), height: part(full.height))
        }
    }

    /// The full picture, three quarters of its width and height, a half, and a quarter; the two last also with half of
    /// the pictures.
    package static let allSteps = [
        Step(quarters: 4, pictures: 1), Step(quarters: 3, pictures: 1), Step(quarters: 2, pictures: 1),
        Step(quarters: 2, pictures: 2), Step(quarters: 1, pictures: 1), Step(quarters: 1, pictures: 2),
    ]

    /// Of H.264 as a call has it. Below this a picture of a camera shows its blocks; measured with libx264's fastest
    /// preset at 720p.
    package static let fewestBitsPerPixel = 0.035
    /// How much more than what a step holds down to makes a step up.
    private static let margin = 1.2
    /// Pictures are not made smaller than this, by a step down from a larger size.
    private static let smallestHeight = 90
    private static let fewestPicturesPerSecond = 7.0

    /// Those that the picture is large enough for, from the largest down. Not empty.
    package let steps: [Step]
    /// How many encodings there may be at a time for each codec.
    package let tiers: Int
    private let floors: [Int]
    private let firstSteps: [Int]

    /// - Parameters:
    ///   - size: of the source's pictures.
    ///   - frameRate: of the source, in pictures a second; 30 where it is not known.
    ///   - tiers: from 1 to 3. There may be fewer, where pictures are small.
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

    /// The tier that a step belongs to, from 0, the largest, on.
    package func tier(of step: Int) -> Int { (firstSteps.lastIndex { $0 <= step }) ?? 0 }

    /// The steps of a tier.
    package func steps(of tier: Int) -> Range<Int> {
        let first = firstSteps[min(max(0, tier), tiers - 1)]
        return first..<(tier + 1 < tiers ? firstSteps[tier + 1] : steps.count)
    }

    /// The bits a second down to which a step is held; 0 for the last.
    package func floor(of step: Int) -> Int { step + 1 < steps.count ? floors[step] : 0 }

    /// The most that is worth sending of a smaller tier: more would not be seen at its size.
    package func ceiling(of tier: Int) -> Int { floors[steps(of: tier).lowerBound] * 5 }

    /// The step for a bit rate.
    ///
    /// - Parameters:
    ///   - bitrate: bits a second.
    ///   - current: the step so far; nil where there is none yet.
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
