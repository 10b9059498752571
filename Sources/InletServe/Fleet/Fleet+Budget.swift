import InletCore
import InletSystem

/// The budget of cores.
extension Fleet {
    /// What is known of the processor's use.
    struct Balance {
        /// The cores for all cameras; nil for no limit.
        var limit: Double?
        var meter = ProcessorMeter()
        var controller = BudgetController()
        var cameras: [BudgetController.Camera] = []
    }

    /// The use of the processor as the API shows it.
    package struct ProcessorUse: Sendable {
        /// The cores of the daemon and its cameras' own processes; nil if they are not measured.
        package var used: Double?
        package var limit: Double?
    }

    /// What is used, if there is a budget.
    package var processorUse: ProcessorUse {
        ProcessorUse(used: balance.limit == nil ? nil : balance.meter.total, limit: balance.limit)
    }

    /// Sets the cores for all cameras; nil for no limit.
    package func limitCores(to limit: Double?) async {
        balance.limit = limit
        guard limit == nil, !balance.controller.levels.isEmpty else { return }
        for name in balance.controller.levels.keys.sorted() {
            await camera(name)?.degrade(to: 0, because: "There is no budget of cores any more.")
        }
        (balance.controller, balance.meter) = (BudgetController(), ProcessorMeter())
    }

    /// Measures what is used, and has one camera do less, or more again, if that is due.
    func balanceCores(at now: MonotonicTime? = nil) async {
        guard let limit = balance.limit else { return }
        var (times, cameras): ([String: Duration], [BudgetController.Camera]) = ([:], [])
        var total = ProcessorClock.process
        for name in current.keys.sorted() {
            guard let load = await camera(name)?.load else { continue }
            times[name] = load.time
            total += load.childTime
            cameras.append(load.camera)
        }
        balance.meter.add(.init(time: now ?? clock.now, total: total, cameras: times))
        for index in cameras.indices { cameras[index].cores = balance.meter.cores(of: cameras[index].name) }
        balance.cameras = cameras
        guard let used = balance.meter.total else { return }
        let change = balance.controller.next(limit: limit, used: used, cameras, at: now ?? clock.now)
        guard let change else { return }
        let figures = "All cameras take \(used.cores) of \(limit.cores) cores"
        await camera(change.camera)?.degrade(
            to: change.level,
            because: change.isLess
                ? "\(figures), and of those that can do less this one has the lowest priority."
                : "\(figures), which leaves room.")
    }

    /// Returns why a camera does not fit in the budget; nil if it does, or may.
    func refusal(of settings: CameraSettings) -> ConfigurationProblem? {
        guard let limit = balance.limit, let used = balance.meter.total else { return nil }
        let new = BudgetController.Camera(
            name: settings.name, priority: settings.policies.priority, steps: settings.policies.degradeSteps.count,
            cores: 0, hasPictures: true)
        guard let shortage = balance.controller.shortage(limit: limit, used: used, balance.cameras, for: new) else {
            return nil
        }
        return ConfigurationProblem(
            "The cameras take \(shortage.used.cores) of the \(limit.cores) cores of the budget, another one about "
                + "\(shortage.estimate.cores), and those of no higher priority can do without "
                + "\(shortage.yield.cores). Lower rates or sizes, give it a higher priority, or raise the budget.",
            at: .none, path: "budget.cores", limited: "The budget is exceeded.")
    }
}

extension Double {
    /// A number of cores with two digits behind the point.
    fileprivate var cores: String {
        let hundredths = Int(clamping: Int64((self * 100).rounded()))
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
