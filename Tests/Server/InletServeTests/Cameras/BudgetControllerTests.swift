import InletCore
import InletTesting
import Testing

@testable import InletServe

/// Decisions about load reduction when the processor is too slow, and about restoring it, on simulated cameras.
@Suite struct BudgetControllerTests {
    /// Simulated cameras with the processor load of each reduction step.
    private struct Simulation {
        struct Camera {
            var name: String
            var priority: CameraPriority
            var load: Double
            /// The share of the load that remains after each step.
            var left: [Double]
        }

        var cameras: [Camera]
        var limit: Double
        /// The load that belongs to no camera.
        var other = 0.05
        var controller = BudgetController()
        var changes: [(second: Int, change: BudgetController.Change)] = []
        private var meter = ProcessorMeter()
        private var (second, total) = (0, Duration.zero)
        private var times: [String: Duration] = [:]

        init(_ cameras: [Camera], limit: Double) { (self.cameras, self.limit) = (cameras, limit) }

        func load(of camera: Camera) -> Double {
            let level = min(controller.levels[camera.name, default: 0], camera.left.count)
            return level == 0 ? camera.load : camera.load * camera.left[level - 1]
        }

        var used: Double { cameras.reduce(other) { $0 + load(of: $1) } }

        /// Advances the time by some seconds.
        ///
        /// - Parameter noise: the largest difference of a camera's load from second to second.
        mutating func run(_ seconds: Int, noise: Double = 0, using random: inout SplitMix64) {
            for _ in 0..<seconds {
                for camera in cameras {
                    let time = Duration.seconds(
                        load(of: camera) * (noise > 0 ? Double.random(in: 1 - noise...1 + noise, using: &random) : 1))
                    times[camera.name, default: .zero] += time
                    total += time
                }
                total += .seconds(other)
                second += 1
                let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
                meter.add(.init(time: now, total: total, cameras: times))
                guard let used = meter.total else { continue }
                let facts = cameras.map {
                    BudgetController.Camera(
                        name: $0.name, priority: $0.priority, steps: $0.left.count,
                        level: controller.levels[$0.name, default: 0], cores: meter.cores(of: $0.name),
                        hasPictures: $0.load > 0)
                }
                let before = controller.levels
                guard let change = controller.next(limit: limit, used: used, facts, at: now) else { continue }
                check(change, before)
                changes.append((second, change))
            }
        }

        /// Checks that no other camera should have been reduced first.
        private func check(_ change: BudgetController.Change, _ before: [String: Int]) {
            guard let camera = cameras.first(where: { $0.name == change.camera }) else {
                Issue.record("a camera that there is not")
                return
            }
            let level = before[camera.name, default: 0]
            #expect(change.level == (change.isLess ? level + 1 : level - 1))
            for other in cameras where other.load > 0.2 {
                let taken = before[other.name, default: 0]
                let uses = taken == 0 ? other.load : other.load * other.left[taken - 1]
                if change.isLess, other.priority < camera.priority, uses > limit * 0.05 {
                    #expect(taken == other.left.count, "\(camera.name) before \(other.name)")
                }
                if !change.isLess, other.priority > camera.priority { #expect(taken == 0) }
            }
        }
    }

    private static let left = [0.55, 0.3, 0.2, 0.1]

    @Test("The lowest priority is reduced first, the highest keeps all, and all are restored when the load ends")
    func order() {
        var random = SplitMix64(seed: 1)
        var simulation = Simulation(
            [
                .init(name: "door", priority: .high, load: 0.6, left: Self.left),
                .init(name: "yard", priority: .normal, load: 0.5, left: Self.left),
                .init(name: "attic", priority: .low, load: 0.5, left: Self.left),
            ], limit: 1.2)
        simulation.run(120, using: &random)
        #expect(simulation.controller.levels["door"] == nil)
        #expect(simulation.controller.levels["attic"] == 3 || simulation.controller.levels["attic"] == 4)
        #expect(simulation.used <= simulation.limit)
        let settled = simulation.changes.count
        // The state is stable: no attempt is made that must fail.
        simulation.run(3600, using: &random)
        #expect(simulation.changes.count == settled)
        (simulation.cameras[0].load, simulation.cameras[1].load) = (0.3, 0.1)
        simulation.run(300, using: &random)
        #expect(simulation.controller.levels == [:])
        #expect(simulation.used <= simulation.limit)
    }

    @Test("If no camera can be reduced this is reported, and a camera that may lose nothing loses nothing")
    func exhausted() {
        var random = SplitMix64(seed: 2)
        var simulation = Simulation(
            [
                .init(name: "door", priority: .low, load: 1, left: []),
                .init(name: "yard", priority: .high, load: 1, left: [0.5]),
            ], limit: 1)
        simulation.run(60, using: &random)
        #expect(simulation.controller.levels == ["yard": 1])
        #expect(simulation.controller.isExhausted)
        simulation.cameras[0].load = 0.2
        simulation.run(60, using: &random)
        #expect(!simulation.controller.isExhausted)
        // Another configuration permits no step.
        simulation.cameras[1].left = []
        simulation.run(1, using: &random)
        #expect(simulation.controller.levels == [:])
        simulation.cameras = []
        simulation.run(20, using: &random)
        #expect(simulation.controller.levels == [:])
    }

    @Test("A load that returns at each attempt to restore is retried at growing intervals")
    func hold() {
        var random = SplitMix64(seed: 3)
        var simulation = Simulation(
            [.init(name: "yard", priority: .normal, load: 0.2, left: [0.5, 0.25])], limit: 1.2)
        var trials: [Int] = []
        for _ in 0..<7200 {
            simulation.other = simulation.controller.levels.isEmpty ? 1.2 : 0.1
            let before = simulation.changes.count
            simulation.run(1, using: &random)
            if simulation.changes.count > before, simulation.changes.last?.change.level == 0 {
                trials.append(simulation.changes.last?.second ?? 0)
            }
        }
        // Two hours have 20 of the longest pauses between two attempts, after the shorter ones.
        #expect((2...26).contains(trials.count), "\(trials)")
        let pauses = zip(trials, trials.dropFirst()).map { $1 - $0 }
        #expect((pauses.last ?? 0) >= 600, "\(pauses)")
    }

    @Test("Restoring costs the camera's present load, not its load at the time of the reduction")
    func viewersLeave() {
        // The seconds after the step, without viewers.
        for leaving in [1, 3, 60] {
            var random = SplitMix64(seed: 4)
            var simulation = Simulation(
                [
                    .init(name: "door", priority: .high, load: 0.3, left: []),
                    .init(name: "yard", priority: .low, load: 0.9, left: [0.5]),
                ], limit: 1)
            for _ in 0..<60 where simulation.controller.levels.isEmpty { simulation.run(1, using: &random) }
            #expect(simulation.controller.levels == ["yard": 1])
            simulation.run(leaving, using: &random)
            simulation.cameras[1].load = 0.1
            simulation.run(900, using: &random)
            #expect(simulation.controller.levels == [:], "\(leaving)")
        }
    }

    @Test("A camera with the name of a removed one is not reduced, and gets no notice of free capacity")
    func sameName() {
        var controller = BudgetController()
        func next(_ second: Int64, level: Int, cores: Double) -> BudgetController.Change? {
            controller.next(
                limit: 1, used: cores,
                [.init(name: "yard", priority: .normal, steps: 4, level: level, cores: cores, hasPictures: true)],
                at: MonotonicTime(nanoseconds: second * 1_000_000_000))
        }
        var level = 0
        for second in 0..<20 {
            if let change = next(Int64(second), level: level, cores: 1.2) { level = change.level }
        }
        #expect(level >= 2)
        for second in 20..<200 { #expect(next(Int64(second), level: 0, cores: 0.1) == nil) }
        #expect(controller.levels == [:])
    }

    @Test("The total time of processes is kept when a camera is removed or renamed")
    func childTimes() {
        var times = ChildTimes<String>()
        #expect(times.sum(["a": .seconds(3), "b": .seconds(1)]) == .seconds(4))
        #expect(times.sum(["b": .seconds(2)]) == .seconds(5))
        #expect(times.sum(["a": .seconds(1), "b": .seconds(2)]) == .seconds(6))
        #expect(times.sum(["a": .seconds(0.5), "b": .seconds(2)]) == .seconds(6.5))
        #expect(times.sum([:]) == .seconds(6.5))
    }

    @Test("With any cameras and loads, priorities hold, the budget is kept if possible, and the state settles")
    func seeded() {
        for seed in 0..<UInt64(20) {
            var random = SplitMix64(seed: seed)
            let cameras = (0..<Int.random(in: 1...12, using: &random)).map { number in
                var left: [Double] = []
                for _ in 0..<Int.random(in: 0...5, using: &random) {
                    left.append((left.last ?? 1) * Double.random(in: 0.4...0.95, using: &random))
                }
                return Simulation.Camera(
                    name: "c\(number)", priority: CameraPriority.allCases.randomElement(using: &random) ?? .normal,
                    load: Double.random(in: 0...1, using: &random), left: left)
            }
            var simulation = Simulation(cameras, limit: Double.random(in: 0.3...4, using: &random))
            let noise = Double.random(in: 0...0.05, using: &random)
            for _ in 0..<3 {
                simulation.run(900, noise: noise, using: &random)
                let least = simulation.cameras.reduce(simulation.other) { $0 + $1.load * ($1.left.last ?? 1) }
                // A camera with almost no load is not reduced.
                let tolerance = 1 + noise + 0.02 * Double(simulation.cameras.count)
                let isKept = simulation.used <= max(simulation.limit, least) * tolerance
                #expect(isKept, "\(seed): \(simulation.used) of \(simulation.limit), at least \(least)")
                // The state is stable, except for attempts to restore when a noisy load seems to leave room.
                let before = simulation.changes.count
                simulation.run(600, noise: noise, using: &random)
                #expect(simulation.changes.count - before <= 6, "\(seed): \(simulation.changes.suffix(10))")
                for index in simulation.cameras.indices where Bool.random(using: &random) {
                    simulation.cameras[index].load = Double.random(in: 0...1, using: &random)
                }
            }
            for index in simulation.cameras.indices { simulation.cameras[index].load *= 0.01 }
            simulation.limit = 4
            simulation.run(1800, using: &random)
            #expect(simulation.controller.levels == [:], "\(seed)")
        }
    }

    @Test("Another camera is refused only if those of no higher priority cannot free enough")
    func another() {
        let controller = BudgetController()
        func camera(_ priority: CameraPriority, _ cores: Double, steps: Int = 4) -> BudgetController.Camera {
            .init(name: "\(priority)", priority: priority, steps: steps, cores: cores, hasPictures: true)
        }
        func shortage(
            _ used: Double, _ cameras: [BudgetController.Camera], _ new: CameraPriority, steps: Int = 4
        ) -> BudgetController.Shortage? {
            controller.shortage(limit: 1, used: used, cameras, for: camera(new, 0, steps: steps))
        }
        // There is free capacity.
        #expect(shortage(0.4, [camera(.high, 0.4)], .low, steps: 0) == nil)
        // The load is unknown.
        #expect(shortage(5, [], .low, steps: 0) == nil)
        // No camera is reduced for one of lower priority.
        let found = shortage(0.9, [camera(.high, 0.9)], .low, steps: 0)
        #expect(found == BudgetController.Shortage(used: 0.9, estimate: 0.9, yield: 0))
        // The camera itself could be reduced.
        #expect(shortage(0.7, [camera(.high, 0.7)], .low) == nil)
        #expect(shortage(0.9, [camera(.high, 0.9)], .low) != nil)
        // Others do.
        #expect(shortage(0.9, [camera(.low, 0.9)], .normal) == nil)
        #expect(shortage(0.9, [camera(.low, 0.9, steps: 0)], .high, steps: 0) != nil)
    }
}
