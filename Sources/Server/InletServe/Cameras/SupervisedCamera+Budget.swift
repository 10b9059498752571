import InletCapture
import InletCore
import InletSystem

/// The processor use of a camera, and how far it is reduced.
extension SupervisedCamera {
    /// The processor use of a camera, and its possible savings.
    struct Load: Sendable {
        /// The processor time used so far, including the camera's own processes.
        var time: Duration
        /// The processor time of only the camera's own processes.
        var childTime: Duration
        /// The state for the controller, without the cores, which are computed from the time.
        var camera: BudgetController.Camera
    }

    var load: Load {
        let childTime = childTime
        return Load(
            time: account.time + childTime, childTime: childTime,
            camera: .init(
                name: settings.name, priority: settings.policies.priority,
                steps: settings.policies.degradeSteps.count, level: degradation?.level ?? 0, cores: 0,
                hasPictures: capturer?.hasPictureWork ?? false))
    }

    /// The processor time of the camera's own processes. For a process that has ended, this is the last value read.
    var childTime: Duration {
        let number = process?.figures().processID
        if number != children.number {
            children = (number, .zero, children.ended + children.last)
        }
        if let number, let now = ProcessorClock.process(number) { children.last = max(children.last, now) }
        return children.ended + children.last
    }

    var reduction: PictureReduction {
        PictureReduction(settings.policies.degradeSteps.prefix(degradation?.level ?? 0))
    }

    /// Makes the camera do less, or more again.
    ///
    /// - Parameters:
    ///   - level: the new number of steps.
    ///   - cause: the reason, in a sentence.
    func degrade(to level: Int, because cause: String) {
        let steps = settings.policies.degradeSteps
        let level = min(level, steps.count)
        let before = degradation
        degradation = level > 0 ? Degradation(level: level, by: steps[level - 1].words, why: cause) : nil
        guard degradation != before else { return }
        capturer?.reduce(to: reduction)
        let left = degradation.map { "Reduced to \($0.by)" } ?? "No longer reduced"
        let isLess = level > before?.level ?? 0
        report(CameraSetEvent(isLess ? "degraded" : "restored", "\(left). \(cause)", camera: settings.name))
    }
}
