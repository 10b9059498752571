import InletCore
import InletSystem
import Logging

/// The budget of cores.
extension Fleet {
    /// What is known of the processor's use.
    struct Balance: Sendable {
        /// The cores for all cameras; nil for no limit.
        var limit: Double?
        var meter = ProcessorMeter()
        var controller = BudgetController()
        var cameras: [BudgetController.Camera] = []
        var children = ChildTimes<ObjectIdentifier>()

        /// Returns why a camera does not fit in the budget; nil if it does, or may.
        func refusal(of settings: CameraSettings) -> ConfigurationProblem? {
            guard let limit, let used = meter.total else { return nil }
            let new = BudgetController.Camera(
                name: settings.name, priority: settings.policies.priority, steps: settings.policies.degradeSteps.count,
                cores: 0, hasPictures: true)
            guard let shortage = controller.shortage(limit: limit, used: used, cameras, for: new) else {
                return nil
            }
            return ConfigurationProblem(
                "The cameras take \(shortage.used.cores) of the \(limit.cores) cores of the budget, another one about "
                    + "\(shortage.estimate.cores), and those of no higher priority can do without "
                    + "\(shortage.yield.cores). Lower rates or sizes, give it a higher priority, or raise the budget.",
                at: .none, path: "budget.cores", limited: "The budget is exceeded.")
        }
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
        guard let limit else {
            balance = Balance()
            for name in current.keys.sorted() {
                await camera(name)?.degrade(to: 0, because: "There is no budget of cores any more.")
            }
            return
        }
        balance.limit = limit
    }

    /// Measures what is used, and has one camera do less, or more again, if that is due.
    func balanceCores(at now: MonotonicTime? = nil) async {
        guard let limit = balance.limit else { return }
        var (times, cameras): ([String: Duration], [BudgetController.Camera]) = ([:], [])
        var children: [ObjectIdentifier: Duration] = [:]
        for name in current.keys.sorted() {
            guard let camera = camera(name) else { continue }
            let load = await camera.load
            times[name] = load.time
            children[ObjectIdentifier(camera)] = load.childTime
            cameras.append(load.camera)
        }
        let total = ProcessorClock.process + balance.children.sum(children)
        balance.meter.add(.init(time: now ?? clock.now, total: total, cameras: times))
        for index in cameras.indices { cameras[index].cores = balance.meter.cores(of: cameras[index].name) }
        balance.cameras = cameras
        guard let used = balance.meter.total else { return }
        let change = balance.controller.next(limit: limit, used: used, cameras, at: now ?? clock.now)
        guard let change else { return }
        logger.info(
            "The budget of cores changes a camera",
            metadata: [
                "camera": "\(change.camera)", "steps": "\(change.level)", "used": "\(used.cores)",
                "limit": "\(limit.cores)",
            ])
        // Without figures, and without a word of others: those read it, too, who may see this camera alone.
        await camera(change.camera)?.degrade(
            to: change.level,
            because: change.isLess ? "The budget of cores is exceeded." : "The budget of cores leaves room.")
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
