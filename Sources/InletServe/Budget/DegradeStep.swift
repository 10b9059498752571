import InletCapture

/// What a camera may lose so that the processor suffices, as a configuration says it.
package enum DegradeChoice: String, Sendable, Hashable, CaseIterable {
    case rate, size
    case keyFrames = "key-frames"
    case pause

    /// What a camera may lose that says nothing of it.
    package static let usual: [DegradeChoice] = [.rate, .size, .keyFrames]

    /// The steps that it is done in, the first one first.
    var steps: [DegradeStep] {
        switch self {
        case .rate: [.halfRate, .quarterRate]
        case .size: [.halfSize]
        case .keyFrames: [.keyFrames]
        case .pause: [.pause]
        }
    }
}

/// One step by which a camera does less. Each comes on top of those before it.
package enum DegradeStep: Sendable, Hashable {
    case halfRate, quarterRate, halfSize, keyFrames, pause

    /// What is left, as in "reduced to ...".
    var words: String {
        switch self {
        case .halfRate: "half the frame rate"
        case .quarterRate: "a quarter of the frame rate"
        case .halfSize: "half the width and height for viewers"
        case .keyFrames: "key frames only"
        case .pause: "no pictures"
        }
    }
}

extension PictureReduction {
    /// Makes what several steps do together.
    init(_ steps: some Sequence<DegradeStep>) {
        self.init()
        for step in steps {
            switch step {
            case .halfRate: rateDivisor = 2
            case .quarterRate: rateDivisor = 4
            case .halfSize: halvesSize = true
            case .keyFrames: keyFramesOnly = true
            case .pause: isPaused = true
            }
        }
    }
}
