import InletCore
import InletSystem
import Logging

/// The budget of cores.
extension CameraSet {
    /// The measured use of the processor.
    struct Balance: Sendable {
        /// The cores for all cameras; nil for no limit.
        var limit: Double?
        var meter = ProcessorMeter()
        var controller = BudgetController()
        var cameras: [BudgetController.Camera] = []
        var children = ChildTimes<ObjectIdentifier>()

        /// Returns the reason why a camera does not fit in the budget; nil if it fits or may fit.
        func refusal(of settings: CameraSettings) -> ConfigurationProblem? {
            guard let limit, let used = meter.total else { return nil }
            let new = BudgetController.Camera(
                name: settings.name, priority: settings.policies.priority, steps: settings.policies.degradeSteps.count,
                cores: 0, hasPictures: true)
            guard let shortage = controller.shortage(limit: limit, used: used, cameras, for: new) else {
                return nil
            }
            return ConfigurationProblem(
                "The cameras use \(shortage.used.cores) of the \(limit.cores) cores of the budget. Another one needs "
                    + "about \(shortage.estimate.cores), and those of no higher priority can give up "
                    + "\(shortage.yield.cores). Lower rates or sizes, give it a higher priority, or raise the budget.",
                at: .none, path: "budget.cores", limited: "The budget is exceeded.")
        }
    }

    /// The processor use as the API shows it.
    package struct ProcessorUse: Sendable {
        /// The cores used by the daemon and its cameras' own processes; nil if not measured.
        package var used: Double?
        package var limit: Double?
    }

    /// The processor use. It is measured only if there is a budget.
    package var processorUse: ProcessorUse {
        ProcessorUse(used: balance.limit == nil ? nil : balance.meter.total, limit: balance.limit)
    }

    /// Sets the cores for all cameras; nil for no limit.
    package func limitCores(to limit: Double?) async {
        guard let limit else {
            balance = Balance()
            for name in current.keys.sorted() {
                await camera(name)?.degrade(to: 0, because: "The budget of cores was removed.")
            }
            return
        }
        balance.limit = limit
    }

    /// Measures the processor use, and makes one camera do less or more if necessary.
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
        // The text contains no figures and names no other camera, because clients that may see only this camera read
        // it.
        await camera(change.camera)?.degrade(
            to: change.level,
            because: change.isLess ? "The budget of cores is exceeded." : "The budget of cores has room again.")
    }
}

extension Double {
    /// A number of cores with two decimal places.
    fileprivate var cores: String {
        let hundredths = Int(clamping: Int64((self * 100).rounded()))
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
