import InletCapture

/// A quality that a camera may lose to save processor time, as written in a configuration.
package enum DegradeChoice: String, Sendable, Hashable, CaseIterable {
    case rate, size
    case keyFrames = "key-frames"
    case pause

    /// The choices for cameras whose configuration has none.
    package static let usual: [DegradeChoice] = [.rate, .size, .keyFrames]

    /// The steps of this choice, in order.
    var steps: [DegradeStep] {
        switch self {
        case .rate: [.halfRate, .quarterRate]
        case .size: [.halfSize]
        case .keyFrames: [.keyFrames]
        case .pause: [.pause]
        }
    }
}

/// A step by which a camera does less. Each step adds to the ones before it.
package enum DegradeStep: Sendable, Hashable {
    case halfRate, quarterRate, halfSize, keyFrames, pause

    /// The remaining quality, as in "reduced to ...".
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
    /// Combines the effects of several steps.
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
