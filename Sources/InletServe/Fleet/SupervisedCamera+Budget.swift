import InletCapture
import InletCore
import InletSystem

/// What a camera uses of the processor, and how far it is reduced.
extension SupervisedCamera {
    /// What the camera uses, and what it could do without.
    struct Load: Sendable {
        /// The processor time that was used so far, with that of its own processes.
        var time: Duration
        /// That of its own processes alone.
        var childTime: Duration
        /// Without its cores, which follow from the time.
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

    /// The processor time of its own processes. That of one that has ended is as it was read last.
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

    /// Has the camera do less, or more again.
    ///
    /// - Parameters:
    ///   - level: the number of steps that it has taken then.
    ///   - cause: why, in a sentence.
    func degrade(to level: Int, because cause: String) {
        let steps = settings.policies.degradeSteps
        let level = min(level, steps.count)
        let before = degradation
        degradation = level > 0 ? Degradation(level: level, by: steps[level - 1].words, why: cause) : nil
        guard degradation != before else { return }
        capturer?.reduce(to: reduction)
        let left = degradation.map { "Reduced to \($0.by)" } ?? "Not reduced any more"
        let isLess = level > before?.level ?? 0
        report(FleetEvent(isLess ? "degraded" : "restored", "\(left). \(cause)", camera: settings.name))
    }
}
