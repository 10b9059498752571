import InletCore

/// Decides which camera does less, and which does more again, so that all together stay within a number of cores. Pure.
///
/// If the limit is exceeded for a few seconds, a camera of the lowest priority takes its next step. Among several, it
/// is the camera that has taken the fewest steps, and of these the one that uses the most. When there is room for the
/// amount that a step has saved, plus a margin, a camera of the highest priority goes one step back. If that was too
/// early, the next try comes after a time that doubles each time.
///
/// The saving of a step is uncertain. Its weight falls to a half after ten minutes and continues to fall, and it is
/// scaled by the camera's present use.
struct BudgetController: Sendable {
    /// The present state of a camera.
    struct Camera: Sendable {
        var name: String
        var priority: CameraPriority
        /// The number of steps that the camera can take.
        var steps: Int
        /// The number of steps that the camera has taken.
        var level = 0
        /// The cores that the camera uses.
        var cores: Double
        /// Whether the camera has pictures to decode, convert or encode.
        var hasPictures: Bool
    }

    /// The saving of a step.
    private struct Saving: Sendable {
        /// The saving in cores, as measured.
        var cores: Double
        /// The cores that the camera used after the step.
        var left: Double
        var time: MonotonicTime
    }

    /// A change of a camera's number of steps.
    struct Change: Sendable, Equatable {
        var camera: String
        /// The new number of steps.
        var level: Int
        /// Whether the new number is higher than before.
        var isLess: Bool
    }

    /// How long the limit must be exceeded before a camera does less.
    static let patience = Duration.seconds(3)
    /// How long to wait for the effect of a change: slightly longer than the measuring window.
    static let settling = Duration.seconds(4)
    /// How long there must be room before a camera does more again.
    static let calm = Duration.seconds(10)
    /// The highest share of the limit that may be in use after a camera does more again.
    static let margin = 0.9
    /// How long after such a change the controller watches whether it was too much.
    static let probation = Duration.seconds(30)
    /// The shortest and the longest time before the next try.
    static let (firstHold, longestHold) = (Duration.seconds(30), Duration.seconds(600))
    /// The smallest share of the limit that a step is assumed to save, and that a camera must use to be reduced.
    private static let leastShare = 0.01

    /// The age at which a known saving has half its weight. At twice this age its weight is a third.
    private static let doubtful = Duration.seconds(600)

    /// The number of steps that each camera has taken, as last reported. Cameras without a step are not included.
    private(set) var levels: [String: Int] = [:]
    /// Whether the limit is exceeded and no camera can do less.
    private(set) var isExhausted = false
    /// The savings of each camera's steps.
    private var savings: [String: [Saving]] = [:]
    /// A step whose effect has not been measured yet.
    private var trial: (camera: String, before: Double)?
    private var overSince: MonotonicTime?
    private var roomSince: MonotonicTime?
    private var lastChange: MonotonicTime?
    private var lastRestored: MonotonicTime?
    /// Whether the last step back was too much.
    private var wasTooMuch = false
    /// The shortest time from the last step back to the next one.
    private var hold = Duration.zero

    /// Compares the cameras' use with the limit. Called about once a second.
    ///
    /// - Parameters:
    ///   - limit: the cores available to all cameras.
    ///   - used: the cores in use, including those that no camera accounts for.
    /// - Returns: the change to make now. The next call assumes that it was made.
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
        // Cameras of a lower priority wait for the highest, whether its step fits or not.
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

    /// Returns the cores that the camera's last step is estimated to save now.
    private func saved(by camera: Camera, _ now: MonotonicTime) -> Double {
        guard let level = levels[camera.name], let known = savings[camera.name], known.indices.contains(level - 1)
        else { return camera.cores }
        let saving = known[level - 1]
        let age = (now - saving.time) / Self.doubtful
        // The use of a camera that uses almost nothing allows no conclusion.
        let scale = saving.left > 0.01 ? min(camera.cores / saving.left, 2) : 1
        return saving.cores * scale / (1 + age)
    }

    /// Records whether the last step back was too much.
    private mutating func noteProbation(_ isOver: Bool, at now: MonotonicTime) {
        guard let restored = lastRestored else { return }
        if now - restored < Self.probation, isOver, overSince == nil {
            hold = hold == .zero ? Self.firstHold : min(hold * 2, Self.longestHold)
            wasTooMuch = true
        } else if now - restored >= Self.probation, !wasTooMuch {
            (lastRestored, hold) = (nil, .zero)
        }
    }

    /// Records the saving of the last step.
    private mutating func learn(_ cameras: [Camera], _ now: MonotonicTime) {
        guard let trial else { return }
        self.trial = nil
        guard let camera = cameras.first(where: { $0.name == trial.camera }), let level = levels[camera.name] else {
            return
        }
        var known = savings[camera.name, default: []]
        let saving = Saving(cores: max(0, trial.before - camera.cores), left: camera.cores, time: now)
        // The savings of steps that were taken before are unknown, so this one's is assumed for them.
        while known.count < level { known.append(saving) }
        known[level - 1] = saving
        savings[camera.name] = known
    }

    /// Updates the levels from the cameras' own reports, because a new camera may have the name of a removed one.
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

    /// The smallest share of its use that a camera keeps after all of its steps.
    private static let leastKept = 0.25

    /// Returns how much is missing for another camera; nil if it fits. It is also nil if the camera is likely to fit
    /// once it and the cameras of no higher priority do less.
    ///
    /// The new camera's use is assumed to be the mean of the cameras that have taken no step. Without such cameras, its
    /// use is unknown.
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

    /// The reason why another camera does not fit, in cores.
    struct Shortage: Sendable, Equatable {
        var used: Double
        /// The estimated use of the new camera.
        var estimate: Double
        /// The use that other cameras can give up for it.
        var yield: Double
    }
}
