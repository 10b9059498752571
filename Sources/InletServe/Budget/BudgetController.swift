import InletCore

/// Decides which camera does less, and which more again, so that all together stay within a number of cores. Pure.
///
/// While more is used for a few seconds, a camera of the lowest priority takes its next step; among several, the one
/// that has taken the fewest, and of these the one that uses most. While there is room for what a step has saved, with
/// a margin, a camera of the highest priority goes one step back. What was given back too early is tried again after a
/// time that doubles.
///
/// What a step has saved is not known for good: it is believed by half after ten minutes, and less and less, and it
/// follows what the camera uses now.
struct BudgetController: Sendable {
    /// A camera as it is now.
    struct Camera: Sendable {
        var name: String
        var priority: CameraPriority
        /// The number of steps that it can take.
        var steps: Int
        /// The number that it has taken.
        var level = 0
        /// The cores that it uses.
        var cores: Double
        /// Whether it has pictures to decode, convert or encode.
        var hasPictures: Bool
    }

    /// What a step has saved.
    private struct Saving: Sendable {
        /// In cores, as it was found.
        var cores: Double
        /// What the camera used then.
        var left: Double
        var time: MonotonicTime
    }

    /// What is to be done about a camera.
    struct Change: Sendable, Equatable {
        var camera: String
        /// The number of steps that it has taken from now on.
        var level: Int
        /// Whether that is more than before.
        var isLess: Bool
    }

    /// How long more must be used than there is before a camera does less.
    static let patience = Duration.seconds(3)
    /// How long a change is left to show its effect: as long as the figures look back, and a little.
    static let settling = Duration.seconds(4)
    /// How long there must be room before a camera does more again.
    static let calm = Duration.seconds(10)
    /// What is used after more was given back, at most.
    static let margin = 0.9
    /// How long after that it is found out whether it was too much.
    static let probation = Duration.seconds(30)
    /// The shortest and the longest time before another trial.
    static let (firstHold, longestHold) = (Duration.seconds(30), Duration.seconds(600))
    /// The least share of the limit that a step is thought to save, and that a camera uses which takes one.
    private static let leastShare = 0.01

    /// How old what is known of a step's saving is when half of it is believed; after twice that it is a third.
    private static let doubtful = Duration.seconds(600)

    /// The number of steps that cameras have taken, as they said last; none has taken no step.
    private(set) var levels: [String: Int] = [:]
    /// Whether more is used than there is, and no camera can do less.
    private(set) var isExhausted = false
    /// What each step of a camera has saved.
    private var savings: [String: [Saving]] = [:]
    /// A step whose effect is not known yet.
    private var trial: (camera: String, before: Double)?
    private var overSince: MonotonicTime?
    private var roomSince: MonotonicTime?
    private var lastChange: MonotonicTime?
    private var lastRestored: MonotonicTime?
    /// Whether what was given back then was too much.
    private var wasTooMuch = false
    /// How long after that the next trial is.
    private var hold = Duration.zero

    /// Looks at the cameras, about once a second.
    ///
    /// - Parameters:
    ///   - limit: the cores that there are for all.
    ///   - used: the cores that are used, also by what is no camera's.
    /// - Returns: what is to be done now, which the next call counts on.
    mutating func next(limit: Double, used: Double, _ cameras: [Camera], at now: MonotonicTime) -> Change? {
        follow(cameras)
        let isSettled = lastChange.map { now - $0 >= Self.settling } ?? true
        if isSettled { learn(cameras, now) }
        noteProbation(used > limit, at: now)
        guard used > limit else {
            (overSince, isExhausted) = (nil, false)
            return restore(limit, used, cameras, isSettled, now)
        }
        roomSince = nil
        let since = overSince ?? now
        overSince = since
        guard isSettled, now - since >= Self.patience else { return nil }
        guard let camera = Self.victim(of: cameras, levels, least: limit * Self.leastShare) else {
            isExhausted = true
            return nil
        }
        let level = levels[camera.name, default: 0] + 1
        levels[camera.name] = level
        (trial, lastChange) = ((camera.name, camera.cores), now)
        return Change(camera: camera.name, level: level, isLess: true)
    }

    private mutating func restore(
        _ limit: Double, _ used: Double, _ cameras: [Camera], _ isSettled: Bool, _ now: MonotonicTime
    ) -> Change? {
        let reduced = cameras.filter { levels[$0.name] != nil }
        // Those of a lower priority wait for the highest, whether it fits or not.
        let first = reduced.max { $0.priority < $1.priority }?.priority
        let camera = reduced.filter {
            $0.priority == first
                && used + max(saved(by: $0, now), limit * Self.leastShare) <= limit * Self.margin
        }.min { left, right in
            let (most, least) = (levels[left.name, default: 0], levels[right.name, default: 0])
            return (most, right.name) > (least, left.name)
        }
        guard let camera, let level = levels[camera.name] else {
            roomSince = nil
            return nil
        }
        let since = roomSince ?? now
        roomSince = since
        guard isSettled, now - since >= Self.calm, lastRestored.map({ now - $0 >= hold }) ?? true else { return nil }
        levels[camera.name] = level > 1 ? level - 1 : nil
        savings[camera.name] = savings[camera.name].map { Array($0.prefix(level - 1)) }
        (lastChange, lastRestored, roomSince, trial, wasTooMuch) = (now, now, nil, nil, false)
        return Change(camera: camera.name, level: level - 1, isLess: false)
    }

    /// Returns the cores that the last step of a camera is thought to save now.
    private func saved(by camera: Camera, _ now: MonotonicTime) -> Double {
        guard let level = levels[camera.name], let known = savings[camera.name], known.indices.contains(level - 1)
        else { return camera.cores }
        let saving = known[level - 1]
        let age = (now - saving.time) / Self.doubtful
        // Of a camera that uses next to nothing nothing follows.
        let scale = saving.left > 0.01 ? min(camera.cores / saving.left, 2) : 1
        return saving.cores * scale / (1 + age)
    }

    /// Notes whether what was given back last was too much.
    private mutating func noteProbation(_ isOver: Bool, at now: MonotonicTime) {
        guard let restored = lastRestored else { return }
        if now - restored < Self.probation, isOver, overSince == nil {
            hold = hold == .zero ? Self.firstHold : min(hold * 2, Self.longestHold)
            wasTooMuch = true
        } else if now - restored >= Self.probation, !wasTooMuch {
            (lastRestored, hold) = (nil, .zero)
        }
    }

    /// Notes what the last step has saved.
    private mutating func learn(_ cameras: [Camera], _ now: MonotonicTime) {
        guard let trial else { return }
        self.trial = nil
        guard let camera = cameras.first(where: { $0.name == trial.camera }), let level = levels[camera.name] else {
            return
        }
        var known = savings[camera.name, default: []]
        let saving = Saving(cores: max(0, trial.before - camera.cores), left: camera.cores, time: now)
        // Of steps that it took before it was known nothing is known.
        while known.count < level { known.append(saving) }
        known[level - 1] = saving
        savings[camera.name] = known
    }

    /// Takes over what the cameras say of themselves: another one may have the name of one that is no more.
    private mutating func follow(_ cameras: [Camera]) {
        levels = [:]
        for camera in cameras where min(camera.level, camera.steps) > 0 {
            levels[camera.name] = min(camera.level, camera.steps)
        }
        let levels = levels
        savings = savings.filter { levels[$0.key] != nil }
        if let trial, levels[trial.camera] == nil { self.trial = nil }
    }

    /// Returns the camera that does less next.
    private static func victim(of cameras: [Camera], _ levels: [String: Int], least: Double) -> Camera? {
        cameras.filter { $0.hasPictures && $0.cores >= least && levels[$0.name, default: 0] < $0.steps }
            .min { left, right in
                let (one, other) = (levels[left.name, default: 0], levels[right.name, default: 0])
                if left.priority != right.priority { return left.priority < right.priority }
                return one != other ? one < other : (-left.cores, left.name) < (-right.cores, right.name)
            }
    }

    // MARK: Another camera

    /// What a camera keeps, at least, of what it uses when all its steps are taken.
    private static let leastKept = 0.25

    /// Returns how much is missing for another camera; nil if it fits, or is likely to fit when those of no higher
    /// priority, and itself, do less.
    ///
    /// What it will use is taken to be the mean of those that have taken no step. If there is none, nothing is known.
    func shortage(limit: Double, used: Double, _ cameras: [Camera], for new: Camera) -> Shortage? {
        let full = cameras.filter { $0.hasPictures && levels[$0.name] == nil && $0.cores > 0 }
        guard !full.isEmpty else { return nil }
        let estimate = full.reduce(0) { $0 + $1.cores } / Double(full.count)
        let yielding = cameras.filter {
            $0.hasPictures && $0.priority <= new.priority && levels[$0.name, default: 0] < $0.steps
        }
        let yield = yielding.reduce(0.0) {
            $0 + $1.cores * (levels[$1.name] == nil ? 1 - Self.leastKept : (1 - Self.leastKept) / 2)
        }
        let least = new.steps > 0 ? estimate * Self.leastKept : estimate
        guard used - yield + least > limit else { return nil }
        return Shortage(used: used, estimate: estimate, yield: yield)
    }

    /// Why another camera does not fit, in cores.
    struct Shortage: Sendable, Equatable {
        var used: Double
        /// What the camera is thought to use.
        var estimate: Double
        /// What others can do without for it.
        var yield: Double
    }
}
