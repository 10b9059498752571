import InletCapture
package import InletCore
package import InletHTTPServer
import InletSystem
package import Logging

/// The cameras that a daemon runs. A change is applied camera by camera: an unaffected camera is not opened again and
/// loses no frame.
package actor CameraSet {
    private var cameras: [String: SupervisedCamera] = [:]
    private var settings: [String: CameraSettings] = [:]
    private let environment: SupervisedCamera.Environment
    private let spread: Duration
    private let makeView: (@Sendable () -> PictureHub)?
    /// The hubs that pass pictures to viewers, by camera.
    package nonisolated let views = ViewDirectory()
    private let limiter: EventLimiter
    private let broadcaster = Broadcaster<CameraSetEvent>(limit: 256)
    /// The current change. The next change waits for it.
    private var last: Task<Void, Never>?
    private var isStopped = false
    /// Whether the cameras were asked to stop. Pending changes are finished first.
    private var isEnding = false
    private var hasStarted = false
    /// The measured use of the processor.
    var balance = Balance()
    /// The version of the settings that are applied.
    private var version = 0

    /// - Parameters:
    ///   - spread: the time between the starts of cameras that are added together. The default is 100 ms.
    ///   - makeProcess: runs sources in separate processes. The default, nil, is for a program that does not do so.
    ///   - makeView: makes the hub that passes pictures to viewers, once for each camera. The default, nil, is for a
    ///     daemon without viewers.
    package init(
        registry: PluginRegistry, clock: any CaptureClock = SystemClock(), spread: Duration = .milliseconds(100),
        logger: Logger = Logger(label: "inlet.serve"), makeProcess: CameraProcess.Maker? = nil,
        makeView: (@Sendable () -> PictureHub)? = nil
    ) {
        environment = .init(registry: registry, clock: clock, logger: logger, makeProcess: makeProcess)
        limiter = EventLimiter(clock: clock)
        self.spread = spread
        self.makeView = makeView
    }

    /// Returns a new, separate sequence of events from now on. It ends after all cameras have ended.
    package nonisolated var events: AsyncStream<CameraSetEvent> { broadcaster.stream() }

    /// Passes an event to all readers of ``events``. The rate of each camera's events is limited.
    nonisolated func report(_ event: CameraSetEvent) { limiter.pass(event) { [weak self] in self?.deliver($0) } }

    private nonisolated func deliver(_ event: CameraSetEvent) {
        broadcaster.send(event)
        if let name = event.camera { Task { await self.camera(name)?.noteEvent(event.kind) } }
    }

    /// Applies the given camera settings. Returns when they are in effect.
    ///
    /// - Parameters:
    ///   - paused: the cameras that start paused if they are new. Empty by default.
    ///   - version: increases with each change. A version older than the applied one is ignored, so that the latest
    ///     settings win in whatever order calls arrive.
    /// - Returns: the changes that were made.
    @discardableResult
    package func apply(
        _ new: [String: CameraSettings], paused: Set<String> = [], version: Int
    ) async -> ReloadPlan {
        await inTurn { await $0.applyNow(new, paused: paused, version) }
    }

    /// Closes one camera and opens it again.
    ///
    /// - Returns: whether the camera exists.
    package func restart(_ name: String) async -> Bool {
        await inTurn { cameraSet in
            guard let camera = await cameraSet.cameras[name] else { return false }
            await camera.restart()
            return true
        }
    }

    /// Makes ``progress`` report `stopping` from now on. A call of ``stop()`` must follow.
    package func announceEnd() { isEnding = true }

    /// Ends all captures. Returns when every source is closed and every sink has finished or been abandoned.
    package func stop() async {
        isEnding = true
        await inTurn { await $0.stopNow() }
        broadcaster.finish()
        environment.lanes.stop()
    }

    /// Returns a camera; nil if there is no camera of that name.
    package func camera(_ name: String) -> SupervisedCamera? { cameras[name] }

    /// The progress of the cameras' start and stop.
    package enum Progress: Sendable { case starting, started, stopping }

    /// The progress of starting and stopping. It has started once the first cameras have been asked to open, whether or
    /// not they do.
    package var progress: Progress { isEnding ? .stopping : hasStarted ? .started : .starting }

    /// The settings of all cameras.
    package var current: [String: CameraSettings] { settings }

    /// The statuses of all cameras, ordered by name.
    package var statuses: [CameraStatus] {
        get async {
            var result: [CameraStatus] = []
            for (_, camera) in cameras.sorted(by: { $0.key < $1.key }) { result.append(await camera.status) }
            return result
        }
    }

    /// The clock of all cameras.
    var clock: any CaptureClock { environment.clock }

    var logger: Logger { environment.logger }

    /// Reports sinks of all cameras that have stalled or have recovered.
    func watchSinks() async { for camera in cameras.values { await camera.watchSinks() } }

    /// Deletes the oldest recordings of each camera above its limit. Does not wait for disks.
    func retainRecordings() async { for camera in cameras.values { await camera.retainRecordings() } }

    /// Ends a sample of each camera's history.
    func closeHistory() async { for camera in cameras.values { await camera.closeHistory() } }

    /// Runs changes one after the other, in the order of the calls.
    private func inTurn<Value: Sendable>(_ body: @escaping @Sendable (CameraSet) async -> Value) async -> Value {
        let previous = last
        let task = Task {
            await previous?.value
            return await body(self)
        }
        last = Task { _ = await task.value }
        return await task.value
    }

    private func applyNow(
        _ new: [String: CameraSettings], paused: Set<String>, _ version: Int
    ) async -> ReloadPlan {
        guard !isStopped, version > self.version else { return ReloadPlan(from: [:], to: [:]) }
        self.version = version
        let plan = ReloadPlan(from: settings, to: new)
        settings = new
        var delay = Duration.zero
        // The cameras stop concurrently, so a source that takes seconds to close does not delay the others.
        await withTaskGroup(of: Void.self) { group in
            for (name, step) in plan.steps.sorted(by: { $0.key < $1.key }) {
                switch step {
                case .add(let settings):
                    let camera = make(settings)
                    cameras[name] = camera
                    if let view = camera.view { views.set(view, of: name) }
                    let start = delay
                    delay += spread
                    let isPaused = paused.contains(name)
                    group.addTask {
                        if isPaused { await camera.pause() }
                        await camera.start(after: start)
                    }
                case .remove:
                    guard let camera = cameras.removeValue(forKey: name) else { continue }
                    views.set(nil, of: name)
                    group.addTask { await camera.remove() }
                case .reopen(let settings):
                    guard let camera = cameras[name] else { continue }
                    group.addTask { await camera.restart(settings) }
                case .adjust(let settings, let detach, let attach):
                    guard let camera = cameras[name] else { continue }
                    group.addTask { await camera.adjust(settings, detach: detach, attach: attach) }
                }
            }
        }
        hasStarted = true
        for (name, change) in plan.summary {
            broadcaster.send(CameraSetEvent(change, "The camera was \(change).", camera: name))
        }
        return plan
    }

    private func make(_ settings: CameraSettings) -> SupervisedCamera {
        SupervisedCamera(settings, view: makeView?(), environment: environment) { [weak self] in self?.report($0) }
    }

    private func stopNow() async {
        isStopped = true
        await withTaskGroup(of: Void.self) { group in
            for camera in cameras.values { group.addTask { await camera.remove() } }
        }
        (cameras, settings) = ([:], [:])
    }
}
